package conduit_test

import (
	"log/slog"
	"testing"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// BenchmarkOnePart delivers answers of one part whose first intent came with the final Batch, and reports the courier's commits for
// each. Time and allocations include the writer's commit and the in-memory store's coding.
func BenchmarkOnePart(b *testing.B) {
	bench := newBench(b, false)
	bench.cfg.Renderer = conduittest.Text{Limit: 4000}
	bench.cfg.Logger = slog.New(slog.DiscardHandler)
	shown := make(chan struct{})
	bench.p.After = func(session.Address) error { shown <- struct{}{}; return nil }
	bench.w.Life = "one"
	bench.must(bench.w.Bind(placeA))
	l := bench.start("one")
	before, n := bench.store.Commits(), 0
	b.ReportAllocs()
	for b.Loop() {
		bench.must(bench.w.Answer("An answer of one part, as most of them are."))
		l.c.Nudge(placeA)
		<-shown
		for bench.address(placeA).Due != 0 {
			time.Sleep(time.Microsecond)
		}
		n++
	}
	b.ReportMetric(float64(bench.store.Commits()-before)/float64(n)-1, "commits/answer")
	bench.must(l.stop())
}
