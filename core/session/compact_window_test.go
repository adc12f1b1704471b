package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// What the live window lets go of stands in a summary: of many short messages, of which a prompt holds more than a small window does,
// none leaves the prompts unless it stands there.
func TestTheLiveWindowLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.WindowBytes = 4 << 10 })
		for i := range 80 {
			b.ask(msg(dm, "slack:U1", fmt.Sprintf("q#%d ", i)), time.Minute)
			if got := len(names(p.asks[len(p.asks)-1])); got != i+1 {
				t.Fatalf("prompt %d knows of %d questions, %d notes", i, got, len(b.notes(dm)))
			}
		}
		if len(b.summaries(dm)) < 2 {
			t.Errorf("%d summaries", len(b.summaries(dm)))
		}
		b.stopLife()
	})
}

// Where no summary can be made, the live window is bounded all the same, and the chat is told once that something is left out.
func TestTheLiveWindowIsBoundedWithoutSummaries(t *testing.T) {
	for _, at := range []float64{0.75, 0} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := newTalker(fitWindow)
				p.summary = func([]ledger.Turn) ([]artifact.Artifact, error) { return nil, errors.New("boom") }
				b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.WindowBytes, c.CompactAt = 8<<10, at })
				for i := range 200 {
					b.ask(msg(dm, "slack:U1", fmt.Sprintf("q#%d ", i)), time.Minute)
					if size, _ := b.m.Window(dm); size > 9*8<<10 {
						t.Fatalf("after %d questions the window has %d bytes", i+1, size)
					}
				}
				equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit."})
				b.stopLife()
			})
		})
	}
}

// A window may begin at a question that was set aside and then asked again: its log names turns that lie before it.
func TestAWindowBeginsAtAQuestionAskedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		refuse := true
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if refuse && strings.HasPrefix(said(turns[len(turns)-1]), "b") {
				return nil, &provider.Error{Kind: provider.KindRefused, Model: "m"}
			}
			return text("yes"), nil
		}}
		b := start(t, mem, p, commanded(mem), func(c *session.Config) { c.WindowBytes = 20_000 })
		b.tell("a" + strings.Repeat("a", 15_000))
		b.tell("b" + strings.Repeat("b", 8_000))
		refuse = false
		b.ended(b.tell("/retry")[0], session.EndAnswered)
		if _, turns := b.m.Window(dm); turns != 2 {
			t.Fatalf("the window has %d turns", turns)
		}
		b.stopLife()
		b = start(t, mem, p, commanded(mem), func(c *session.Config) { c.WindowBytes = 20_000 })
		b.ended(b.tell("c")[0], session.EndAnswered)
		b.stopLife()
	})
}
