package session_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/transform/budget"
)

// A history that is denser than the estimate is shortened until the server takes it; the question itself is never the victim.
func TestADenseHistoryIsShortened(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if len(turns) > 5 {
				return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
			}
			return text("ok"), nil
		}}
		b := start(t, mem, p, func(c *session.Config) {
			c.Transform, c.Spec.NumCtx = []loop.Transform{budget.Budget{}}, 400
		})
		for i := range 40 {
			in := msg(dm, "slack:U1", fmt.Sprint(i))
			b.accept(in)
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(in, session.EndAnswered)
		}
		if n := len(p.prompts()); n > 60 {
			t.Errorf("%d calls for 40 questions: what was learned isn't kept", n)
		}
		b.stopLife()
	})
}

// An answer of which a person would see nothing is tried again, then said to be none.
func TestAnAnswerThatShowsNothingIsNone(t *testing.T) {
	for _, nothing := range []string{"```\n```", "\u200b\u2060", "#\n>\n", "~~~"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return text(nothing), nil }})
			in := msg(dm, "slack:U1", "hi")
			b.accept(in)
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(in, session.EndNoticed)
			b.stopLife()
		})
	}
	for _, something := range []string{"?", "👍", "…", "-", "`x`", "|a|"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return text(something), nil }})
			in := msg(dm, "slack:U1", "hi")
			b.accept(in)
			synctest.Wait()
			b.ended(in, session.EndAnswered)
			b.stopLife()
		})
	}
}

// watching notes which Batches somebody waits for.
type watching struct {
	*storetest.Memory
	mu      sync.Mutex
	patient []bool
}

func (w *watching) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	w.mu.Lock()
	w.patient = append(w.patient, b.Patient)
	w.mu.Unlock()
	w.Memory.Commit(ctx, b, done)
}

// Of an exchange's three Batches the one in the middle needs no commit of its own.
func TestNobodyWaitsForTheUserTurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		w := &watching{Memory: mem}
		b := start(t, mem, echo(0), func(c *session.Config) { c.Store = w })
		b.accept(msg(dm, "slack:U1", "hi"))
		synctest.Wait()
		if want := []bool{false, true, false}; !slices.Equal(w.patient, want) {
			t.Errorf("patient: %v, want %v: accept, user turn, final turn", w.patient, want)
		}
		b.stopLife()
	})
}

// counted keeps what was counted.
type counted struct {
	observe.Nop
	mu  sync.Mutex
	sum map[string]float64
}

func (c *counted) Add(name observe.Counter, delta float64, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum[fmt.Sprint(name, labels)] += delta
}

func TestTokensAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		c := &counted{sum: map[string]float64{}}
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return []artifact.Artifact{artifact.Text{Content: "ok"}, artifact.Usage{PromptTokens: 7, CompletionTokens: 2, TotalTokens: 9}}, nil
		}}
		b := start(t, mem, p, func(cfg *session.Config) { cfg.Counters = c })
		for range 3 {
			b.accept(msg(dm, "slack:U1", "hi"))
			synctest.Wait()
		}
		if in, out := c.sum["orebot_tokens_total[in m]"], c.sum["orebot_tokens_total[out m]"]; in != 21 || out != 6 {
			t.Errorf("%v tokens in, %v out, want 21 and 6", in, out)
		}
		b.stopLife()
	})
}
