package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/transform/attribution"
	"orebot/core/transform/budget"
	"orebot/core/transform/systemprompt"
)

// perToken is how many bytes the scripted model counts as a token.
const perToken = 3

// tokensIn is what a server would count in a prompt.
func tokensIn(turns []ledger.Turn) int {
	n := 0
	for _, t := range turns {
		n += 5 + len(flat(t))/perToken
	}
	return n
}

// flat is a turn as the model reads it.
func flat(t ledger.Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>", t.Role)
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.Text:
			b.WriteString(a.Content + "\n\n")
		case artifact.ToolCall:
			b.WriteString("call " + a.Name + a.Arguments)
		case artifact.ToolResult:
			b.WriteString("result " + a.Content)
		case artifact.Image:
			b.WriteString("picture " + a.URL)
		}
	}
	return b.String()
}

func whole(turns []ledger.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(flat(t))
	}
	return b.String()
}

// wantsSummary reports whether a prompt asks for a summary.
func wantsSummary(turns []ledger.Turn) bool {
	return strings.HasPrefix(said(turns[len(turns)-1]), "Summarise our conversation")
}

// talker answers like a server that counts tokens and refuses what is beyond its window. Its summaries name the questions that stand
// in their prompt, and what the summary before them named.
type talker struct {
	scripted
	window  int
	slow    time.Duration // of a summary
	summary func(turns []ledger.Turn) ([]artifact.Artifact, error)

	mu    sync.Mutex
	asks  [][]ledger.Turn // prompts of answers
	sums  [][]ledger.Turn // prompts of summaries
	ended int             // summaries that were cancelled
}

func newTalker(window int) *talker {
	p := &talker{window: window}
	p.answer = p.say
	return p
}

func (p *talker) say(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
	n := tokensIn(turns)
	if n > p.window {
		return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
	}
	usage := artifact.Usage{PromptTokens: n, CompletionTokens: 50, TotalTokens: n + 50}
	if !wantsSummary(turns) {
		p.mu.Lock()
		p.asks = append(p.asks, turns)
		p.mu.Unlock()
		return []artifact.Artifact{artifact.Text{Content: "re: " + strings.Repeat("word ", 30)}, usage}, nil
	}
	p.mu.Lock()
	p.sums = append(p.sums, turns)
	p.mu.Unlock()
	if err := pass(ctx, p.slow); err != nil {
		p.mu.Lock()
		p.ended++
		p.mu.Unlock()
		return nil, err
	}
	if p.summary != nil {
		return p.summary(turns)
	}
	return []artifact.Artifact{artifact.Text{Content: "They asked " + strings.Join(names(turns), " ")}, usage}, nil
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// names returns the numbers of the questions in a prompt, those that its summary names included.
func names(turns []ledger.Turn) (out []string) {
	for _, t := range turns {
		for _, w := range strings.Fields(whole([]ledger.Turn{t})) {
			if q := strings.TrimPrefix(w, "<user>"); strings.HasPrefix(q, "q#") && !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}

func (p *talker) counts() (asks, sums int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asks), len(p.sums)
}

const fitWindow = 2000

// fitting makes a life one whose prompts are kept within a window and summarised.
func fitting(c *session.Config) {
	c.Spec.NumCtx, c.CompactAt = fitWindow, 0.75
	c.Transform = []loop.Transform{attribution.Speakers{}, systemprompt.Fixed("Be brief."), budget.Budget{}}
}

// question is the i-th of a conversation.
func question(i int) string { return fmt.Sprintf("q#%d ", i) + strings.Repeat("lorem ", 40) }

// ask hands a question over and waits until it is answered, and then for d.
func (b *bench) ask(in session.Inbound, d time.Duration) {
	b.t.Helper()
	b.accept(in)
	synctest.Wait()
	b.ended(in, session.EndAnswered)
	time.Sleep(d)
	synctest.Wait()
}

// summaries returns the summaries on the log, oldest first.
func (b *bench) summaries(a session.Address) (out []ledger.Turn) {
	b.t.Helper()
	st, err := b.store.Address(context.Background(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	recs, err := b.store.Log(context.Background(), st.Binding.Thread, 1, 100000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range recs {
		if r.Turn != nil && r.Turn.Covers != 0 {
			out = append(out, *r.Turn)
		}
	}
	return out
}

// notes are the lines that the chat was told, of the thread that an address is bound to.
func (b *bench) notes(a session.Address) (out []string) {
	for _, l := range b.log(a) {
		if text, ok := strings.CutPrefix(l, "end "); ok {
			out = append(out, text)
		}
	}
	return out
}
