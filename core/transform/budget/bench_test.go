package budget_test

import (
	"fmt"
	"testing"

	"orebot/core/ledger"
	"orebot/core/transform/budget"
)

// BenchmarkBudget is what it costs to fit a path of so many turns, a hundred bytes each: into a window that holds them all, into one
// that holds a hundred of them for the first time, and with the cut where it was.
func BenchmarkBudget(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		st := ledger.NewView(nil, turns(n+1, 100))
		for name, plan := range map[string]budget.Plan{
			"all":   {Window: 1 << 30},
			"cut":   {Window: 4000},
			"again": {Window: 4000, From: ledger.Seq(max(n-50, 0)/2*2 + 1)},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p := plan
					if _, err := (budget.Budget{}).Transform(budget.WithPlan(b.Context(), &p), st); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
