package session_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// witness notes with which Spec each call was made.
type witness struct {
	provider.Provider
	mu   sync.Mutex
	seen []witnessed
}

type witnessed struct {
	spec    models.Spec
	summary bool
}

func (w *witness) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	w.mu.Lock()
	w.seen = append(w.seen, witnessed{spec, wantsSummary(st.Turns())})
	w.mu.Unlock()
	return w.Provider.Invoke(ctx, st, spec, ch, opts...)
}

// watched puts a witness in front of a life's provider.
func watched(w *witness) func(*session.Config) {
	return func(c *session.Config) { w.Provider, c.Provider = c.Provider, w }
}

// The window is the configured one, or the model's own where that is less: for what is asked, what is summarised, and what fits.
func TestTheWindowIsTheModelsWhereThatIsLess(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p, w := newTalker(fitWindow), &witness{}
		b := start(t, mem, &p.scripted, fitting, watched(w), func(c *session.Config) {
			c.Spec.NumCtx, c.ContextOf = 1<<20, func(context.Context, string) int { return fitWindow }
		})
		for i := range 30 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		big := msg(dm, "slack:U1", strings.Repeat("lorem ", 10000))
		b.accept(big)
		synctest.Wait()
		b.ended(big, session.EndNoticed)
		if len(b.summaries(dm)) == 0 {
			t.Error("no summary was made")
		}
		for _, s := range w.seen {
			if s.spec.NumCtx != fitWindow || s.summary && (s.spec.Think != "off" || s.spec.MaxTokens == 0) {
				t.Errorf("summary %v: asked with a window of %d, think %q, %d tokens", s.summary, s.spec.NumCtx, s.spec.Think, s.spec.MaxTokens)
			}
		}
		b.stopLife()
	})
}

// A server that refuses what is far within the window that it is said to have is believed: it isn't asked the same again and again.
func TestAWindowThatIsntThereIsFoundOut(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.Spec.NumCtx = 1 << 20 })
		for i := range 40 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if n := len(p.prompts()); n > 80 {
			t.Errorf("%d calls for 40 questions", n)
		}
		if n := len(b.notes(dm)); n != 1 {
			t.Errorf("the chat was told %q", b.notes(dm))
		}
		b.stopLife()
	})
}

// A summary of a prompt that the server has cut leaves out what nobody read: it is thrown away.
func TestASummaryOfACutPromptIsThrownAway(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p, tries := newTalker(fitWindow), 0
		say := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if wantsSummary(turns) {
				tries++
				provider.Report(ctx, provider.Progress{Model: "m", Cut: &provider.Cut{Bytes: 5000, Tokens: 600, Window: fitWindow}})
			}
			return say(ctx, n, turns)
		}
		b := start(t, mem, &p.scripted, fitting)
		for i := range 30 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if n := len(b.summaries(dm)); n > 0 || tries == 0 {
			t.Errorf("%d summaries of %d tries are on the log", n, tries)
		}
		b.stopLife()
	})
}

// What a server has counted for a model's prompts tells about that model's next conversation, too.
func TestAModelsCountsServeItsNextConversation(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return append(text("ok"), artifact.Usage{PromptTokens: 1 << 16, CompletionTokens: 1, TotalTokens: 1<<16 + 1}), nil
		}}
		b := start(t, mem, p, fitting)
		b.ask(msg(dm, "slack:U1", "short"), 0)
		in := msg("slack:T1/D2", "slack:U2", question(0)) // about 90 tokens, as they are estimated; eight times that, as they are counted
		in.Text = strings.Repeat(in.Text, 4)
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		b.stopLife()
	})
}

// A prompt that the server counts as long as the window to the token has lost its middle.
func TestACountOfTheWholeWindowIsACut(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return append(text("ok"), artifact.Usage{PromptTokens: fitWindow, CompletionTokens: 1, TotalTokens: fitWindow + 1}), nil
		}}
		b := start(t, mem, p, fitting)
		b.ask(msg(dm, "slack:U1", "short"), 0)
		if notes := b.notes(dm); !slices.Contains(notes, noteServer) {
			t.Errorf("notes %q", notes)
		}
		b.stopLife()
	})
}

// What a server has cut says nothing of another model.
func TestAnotherModelHasAWindowOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		say, cut := p.answer, true
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if cut {
				cut = false
				provider.Report(ctx, provider.Progress{Model: "m", Cut: &provider.Cut{Bytes: 5000, Tokens: 600, Window: fitWindow}})
			}
			return say(ctx, n, turns)
		}
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		long := strings.Repeat("lorem ", 550) // more than half of the window, by the first estimate
		b.ask(msg(dm, "slack:U1", "short"), 0)
		in := msg(dm, "slack:U1", long)
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		b.tell("/model big:7b")
		b.ask(msg(dm, "slack:U1", long), 0)
		b.stopLife()
	})
}

// A model server that names a time is asked again then.
func TestTheServersWaitIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		var calls []time.Time
		p := &scripted{answer: func(_ context.Context, n int, _ []ledger.Turn) ([]artifact.Artifact, error) {
			if calls = append(calls, time.Now()); n == 1 {
				return nil, &provider.Error{Kind: provider.KindBusy, After: 77 * time.Second}
			}
			return text("ok"), nil
		}}
		b := start(t, mem, p)
		in := msg(dm, "slack:U1", "q")
		b.accept(in)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if len(calls) != 2 || calls[1].Sub(calls[0]) != 77*time.Second {
			t.Errorf("calls at %v", calls)
		}
		b.stopLife()
	})
}
