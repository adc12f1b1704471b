package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// Over a hundred questions of two people, with quotes, tools and what is heard in between, each prompt begins with all of the one
// before, byte for byte, except where a summary has taken the place of older turns, or the prompt was cut: both are rare.
func TestPromptsGoOnWhereTheOneBeforeEnded(t *testing.T) {
	for _, compact := range []float64{0.75, 0} {
		t.Run(fmt.Sprint(compact), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) { prefixes(t, mem, compact) })
		})
	}
}

func prefixes(t *testing.T, mem *storetest.Memory, compact float64) {
	const channel, n = session.Address("slack:T1/C1/1"), 100
	p := newTalker(4000)
	say := p.answer
	p.answer = func(ctx context.Context, k int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		last := turns[len(turns)-1]
		if !wantsSummary(turns) && last.Role == ledger.RoleUser && strings.Contains(said(last), "what time") {
			p.mu.Lock()
			p.asks = append(p.asks, turns)
			p.mu.Unlock()
			return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", k), Name: "clock", Arguments: "{}"}}, nil
		}
		return say(ctx, k, turns)
	}
	b := start(t, mem, &p.scripted, fitting, func(c *session.Config) {
		c.Spec.NumCtx, c.CompactAt = 4000, compact
		c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{&tools{}}
	})
	for i := range n {
		who := []string{"slack:U1", "slack:U2"}[i/3%2]
		if i%5 == 2 {
			b.accept(msg(channel, "slack:U2", fmt.Sprintf("aside %d", i), func(in *session.Inbound) {
				in.Call, in.Place, in.Author.Name = session.CallAmbient, "slack:C1", "Bo"
			}))
		}
		b.ask(msg(channel, who, question(i), func(in *session.Inbound) {
			in.Call, in.Place, in.Author.Name = session.CallMention, "slack:C1", map[string]string{"slack:U1": "Al", "slack:U2": "Bo"}[who]
			if i%7 == 3 {
				in.Text += " what time is it?"
			}
			if i%4 == 1 {
				in.Quotes = []session.Quote{{Author: "Al", Text: "an older message"}}
			}
		}), time.Minute)
	}
	breaks, least := 0, 1<<30
	for i := 1; i < len(p.asks); i++ {
		before, now := whole(p.asks[i-1]), whole(p.asks[i])
		least = min(least, tokensIn(p.asks[i]))
		if !strings.HasPrefix(now, before) {
			breaks++
		}
		if tokensIn(p.asks[i]) > 4000 {
			t.Errorf("prompt %d has %d tokens", i, tokensIn(p.asks[i]))
		}
	}
	if len(p.asks) < n+10 || breaks == 0 || breaks > 10 {
		t.Errorf("%d of %d prompts don't go on where the one before ended", breaks, len(p.asks))
	}
	if got := len(b.summaries(channel)); (got > 0) != (compact > 0) || got > breaks {
		t.Errorf("%d summaries, %d breaks", got, breaks)
	}
	b.stopLife()
}

// Report 86: ten thousand turns in one thread. What is in memory of it stays below its bound, and so do the prompts, the cost of a
// turn's commit, and what is read when it goes live again.
func TestTenThousandTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand turns are too many for -short")
	}
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{}
		most := 0
		p.answer = func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			n := tokensIn(turns)
			most = max(most, n)
			p.mu.Lock()
			p.calls = nil
			p.mu.Unlock()
			return append(text("re: "+strings.Repeat("word ", 30)), artifact.Usage{PromptTokens: n, CompletionTokens: 50, TotalTokens: n + 50}), nil
		}
		r := &reading{Memory: mem}
		b := start(t, mem, p, fitting, func(c *session.Config) {
			c.Store, c.WindowBytes, c.IdleEvict = r, 64<<10, time.Hour
		})
		for i := range 5000 {
			b.accept(msg(dm, "slack:U1", question(i)))
			time.Sleep(4 * time.Second)
			if i%500 == 499 {
				synctest.Wait()
				if size, turns := b.m.Window(dm); size > 80<<10 || turns > 300 {
					t.Errorf("after %d questions the window has %d turns of %d bytes", i+1, turns, size)
				}
			}
		}
		synctest.Wait()
		if most > fitWindow {
			t.Errorf("a prompt had %d tokens", most)
		}
		b.stopLife()
		r.records = 0
		b = start(t, mem, p, fitting, func(c *session.Config) { c.Store, c.WindowBytes = r, 64<<10 })
		b.ask(msg(dm, "slack:U1", question(5000)), 0)
		if r.records == 0 || r.records > 2*256+300 {
			t.Errorf("%d records of a log of ten thousand were read", r.records)
		}
		b.stopLife()
	})
}

// reading counts the log records that are read.
type reading struct {
	*storetest.Memory
	records int
}

func (r *reading) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	recs, err := r.Memory.Log(ctx, id, from, limit)
	r.records += len(recs)
	return recs, err
}
