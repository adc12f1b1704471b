package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// What is forgotten while a summary of it is made leaves nothing, and the call ends.
func TestForgetWhileASummaryIsMade(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		for i := range 14 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		p.slow = time.Hour
		b.tell("/forget")
		for i := 14; i < 30; i++ {
			if _, sums := p.counts(); sums > len(b.summaries(dm)) {
				break
			}
			b.ask(msg(dm, "slack:U1", question(i)), 10*time.Second)
		}
		old, before := at(t, mem, dm).Binding.Thread, p.ended
		if _, sums := p.counts(); sums == len(b.summaries(dm)) {
			t.Fatal("no summary is under way")
		}
		b.tell("/forget yes")
		if p.ended != before+1 {
			t.Errorf("%d calls were ended", p.ended-before)
		}
		equal(t, "log", b.log(dm), []string{"end Forgotten."})
		erased(t, mem, dm, "lorem", old)
		p.slow = 0
		b.ask(msg(dm, "slack:U1", question(99)), 0)
		if got := names(p.last()); !slices.Equal(got, []string{"q#99"}) {
			t.Errorf("the prompt knows of %v", got)
		}
		b.stopLife()
	})
}

// Taking back goes on below a summary, exchange by exchange, while the window holds what it covers: the prompt is then of the messages
// themselves, and of none that was taken back. `retry` and the way back from `new` go there too.
func TestUndoBelowASummary(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		ask := func(i int) { b.ask(msg(dm, "slack:U1", question(i)), 0) }
		knows := func(want ...string) {
			t.Helper()
			if got := names(p.last()); !slices.Equal(got, want) {
				t.Errorf("the prompt knows of %v, want %v", got, want)
			}
		}
		for i := range 5 {
			ask(i)
		}
		b.tell("/compact", "/undo", "/undo")
		ask(5)
		knows("q#0", "q#1", "q#2", "q#5")
		b.tell("/compact", "/undo", "/retry")
		knows("q#0", "q#1", "q#2")
		b.tell("/compact", "/new")
		ask(6)
		knows("q#6")
		b.tell("/undo", "/undo")
		ask(7)
		knows("q#0", "q#1", "q#2", "q#7")
		b.tell("/undo", "/undo", "/undo", "/undo")
		ask(8)
		knows("q#8")
		b.tell("/undo", "/undo")
		if got := last(b.notes(dm)); got != "There is nothing to take back." {
			t.Errorf("reply %q", got)
		}
		b.stopLife()
	})
}

// What has left the window can't be taken back, and that is said; the summary stays.
func TestUndoBeyondTheWindow(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b, _ := talked(t, mem, p, 60, commanded(mem))
		for range 40 {
			b.tell("/undo")
		}
		if got := last(b.notes(dm)); got != "That lies too far back." {
			t.Errorf("reply %q", got)
		}
		b.ask(msg(dm, "slack:U1", question(99)), 0)
		if got := names(p.last()); len(got) < 15 || got[0] != "q#0" || got[len(got)-1] != "q#99" || len(got) > 50 {
			t.Errorf("the prompt knows of %v", got)
		}
		b.stopLife()
	})
}

// `compact` keeps its place in the queue: it is done behind the answer in progress, and when it comes twice, the second finds nothing.
func TestCompactDuringATurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		for i := range 5 {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		say := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if err := pass(ctx, 10*time.Second); err != nil {
				return nil, err
			}
			return say(ctx, n, turns)
		}
		for _, s := range []string{question(5), "/compact", "/compact", question(6)} {
			b.accept(msg(dm, "slack:U1", s))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		log := b.log(dm)
		for i, want := range []string{"user q#5", "assistant re:", "system Summary", "end Older messages stand in a summary now.",
			"end There is nothing older to summarise yet.", "user q#6", "assistant re:"} {
			if got := log[10+i]; !strings.HasPrefix(got, want) {
				t.Errorf("record %d: %.60q, want %q", 11+i, got, want)
			}
		}
		if got := names(p.last()); len(got) != 7 {
			t.Errorf("the prompt knows of %v", got)
		}
		b.stopLife()
	})
}

// Whatever commit the process dies at around `compact`, there is one summary in the end, it is said once, and the next question knows
// of it all.
func TestDeathAtEveryCommitOfCompact(t *testing.T) {
	atEveryDeath(t, 16, func(t *testing.T, mem *storetest.Memory, applied bool, left int) {
		p := newTalker(fitWindow)
		var in []session.Inbound
		for _, s := range []string{question(0), question(1), question(2), "/compact", question(3)} {
			in = append(in, msg(dm, "slack:U1", s))
		}
		for _, n := range []int{left, 1 << 30} {
			c := &crashing{Memory: mem, left: n, applied: applied}
			c.run(t, &p.scripted, in, fitting, commanded(mem))
		}
		b := &bench{t: t, store: mem}
		if n := len(b.summaries(dm)); n != 1 {
			t.Errorf("%d summaries", n)
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages stand in a summary now."})
		if got := names(p.last()); len(got) != 4 {
			t.Errorf("the prompt knows of %v", got)
		}
	})
}

// What is taken back may be more than the live window holds: where the path ends then stays in it, in the next life of the process too.
func TestUndoOfAnAnswerBeyondTheWindow(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if said(turns[len(turns)-1]) == "long" {
				return text(strings.Repeat("lorem ", 150)), nil
			}
			return text("ok"), nil
		}}
		small := func(c *session.Config) { c.WindowBytes = 1200 }
		b := start(t, mem, p, small, commanded(mem))
		b.tell("one", "long", "/undo")
		b.stopLife()
		b = start(t, mem, p, small, commanded(mem))
		b.tell("two")
		equal(t, "prompt", p.shown(len(p.prompts())-1), []string{"user one", "assistant ok", "user two"})
		b.stopLife()
	})
}
