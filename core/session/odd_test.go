package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// One refusal that nothing explains takes nothing from a conversation that is far within its window.
func TestOneOddRefusalCutsNothing(t *testing.T) {
	for _, first := range []bool{true, false} { // of a question alone, or behind a conversation
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			p := newTalker(1 << 20)
			say, odd := p.answer, first
			p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
				if odd {
					odd = false
					return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
				}
				return say(ctx, n, turns)
			}
			b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.Spec.NumCtx = 1 << 20 })
			for i := range 30 {
				odd = odd || i == 10
				b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			}
			synctest.Wait()
			if n := len(p.asks); n != 30 || len(p.asks[29]) != 60 { // a system turn, 29 exchanges and the question
				t.Errorf("%d answers; the last prompt has %d turns", n, len(p.asks[n-1]))
			}
			if notes := b.notes(dm); len(notes)+len(b.summaries(dm)) > 0 {
				t.Errorf("the chat was told %q, and %d summaries were made", notes, len(b.summaries(dm)))
			}
			b.stopLife()
		})
	}
}

// A question that is refused again and again, though it is far within the window, isn't said to be longer than it is, and what is asked
// next has the whole window.
func TestARefusalThatNothingExplainsIsToldPlainly(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p, calls := newTalker(1<<20), 0
		say := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if calls++; calls <= 2 {
				return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
			}
			return say(ctx, n, turns)
		}
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.Spec.NumCtx = 1 << 20 })
		in := msg(dm, "slack:U1", "short")
		b.accept(in)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		for i := range 30 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if notes := b.notes(dm); calls != 32 || len(notes) != 1 || !strings.HasPrefix(notes[0], "That is more than `m` can read at once.") {
			t.Errorf("%d calls; the chat was told %q", calls, notes)
		}
		b.stopLife()
	})
}
