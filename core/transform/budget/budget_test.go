package budget

import (
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

func turns(n, bytes int) []ledger.Turn {
	out := make([]ledger.Turn, n)
	for i := range out {
		role := ledger.RoleUser
		if i%2 == 1 {
			role = ledger.RoleAssistant
		}
		out[i] = ledger.Turn{ID: ledger.TurnID{Seq: ledger.Seq(i + 1)}, Role: role,
			Artifacts: []artifact.Artifact{artifact.Text{Content: strings.Repeat("x", bytes)}}}
	}
	return out
}

func view(t *testing.T, b Budget, all []ledger.Turn) []ledger.Turn {
	t.Helper()
	st, err := b.Transform(t.Context(), ledger.NewView(nil, all))
	if err != nil {
		t.Fatal(err)
	}
	return st.Turns()
}

func TestEverythingStaysWhileItFits(t *testing.T) {
	if got := view(t, Budget{Tokens: 1000}, turns(10, 3*92)); len(got) != 10 {
		t.Errorf("%d turns of 100 tokens left of 10, want all", len(got))
	}
}

func TestOldestGoFirstAndAUserTurnLeads(t *testing.T) {
	for n := 1; n < 60; n++ {
		got := view(t, Budget{Tokens: 1000}, turns(n, 3*92))
		if last := got[len(got)-1].ID.Seq; last != ledger.Seq(n) {
			t.Fatalf("of %d turns the newest kept is %d", n, last)
		}
		if len(got)*100 > 1000 {
			t.Errorf("of %d turns %d stay, beyond the budget", n, len(got))
		}
		if got[0].Role != ledger.RoleUser && len(got) > 1 {
			t.Errorf("of %d turns the first kept is by %s", n, got[0].Role)
		}
	}
}

func TestOneTurnBeyondTheBudgetStays(t *testing.T) {
	if got := view(t, Budget{Tokens: 10}, turns(1, 4000)); len(got) != 1 {
		t.Errorf("%d turns left, want the one", len(got))
	}
}

// The cut must move seldom: each move costs the server its prefix cache.
func TestTheCutMovesSeldom(t *testing.T) {
	moves, last := 0, ledger.Seq(1)
	for n := 1; n <= 100; n++ {
		if first := view(t, Budget{Tokens: 2000}, turns(n, 3*92))[0].ID.Seq; first != last {
			moves, last = moves+1, first
		}
	}
	if moves > 25 {
		t.Errorf("the first turn of the prompt changed %d times in 100 turns", moves)
	}
}

// A question whose tools say more than fits stays in sight, and every result that is shown has its call.
func TestAnExchangeBeyondTheBudgetKeepsItsQuestion(t *testing.T) {
	for rounds := 1; rounds < 12; rounds++ {
		for _, results := range []int{1, 3} {
			all := exchange(rounds, results)
			got := view(t, Budget{Tokens: 1000}, all)
			if got[0].Role != ledger.RoleUser || got[0].ID.Seq != 3 && len(all) > len(got) {
				t.Fatalf("%d rounds: the view begins with turn %d of %s", rounds, got[0].ID.Seq, got[0].Role)
			}
			if last := got[len(got)-1].ID.Seq; last != ledger.Seq(len(all)) {
				t.Errorf("%d rounds: the newest kept is %d of %d", rounds, last, len(all))
			}
			if got[1].Role == ledger.RoleTool {
				t.Errorf("%d rounds: turn %d is a result without its call", rounds, got[1].ID.Seq)
			}
		}
	}
}

// exchange is an answered question, and then one whose tools have been called for some rounds, each result 100 tokens.
func exchange(rounds, results int) []ledger.Turn {
	out := turns(3, 3*92)
	add := func(role ledger.Role, a artifact.Artifact) {
		out = append(out, ledger.Turn{ID: ledger.TurnID{Seq: ledger.Seq(len(out) + 1)}, Role: role, Artifacts: []artifact.Artifact{a}})
	}
	for range rounds {
		add(ledger.RoleAssistant, artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"})
		for range results {
			add(ledger.RoleTool, artifact.ToolResult{ToolCallID: "c", Content: strings.Repeat("x", 3*92)})
		}
	}
	return out
}

func TestTheBudgetIsHalvedForADenseConversation(t *testing.T) {
	all := turns(40, 3*92)
	full := len(view(t, Budget{Tokens: 2000}, all))
	for n, want := range []int{full, full / 2, full / 4} {
		st, err := Budget{Tokens: 2000}.Transform(WithHalvings(t.Context(), n), ledger.NewView(nil, all))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(st.Turns()); got < want-2 || got > want+2 {
			t.Errorf("halved %d times %d turns fit, want about %d", n, got, want)
		}
	}
}
