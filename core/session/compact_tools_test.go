package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// bigTools answers each call with a text of so many bytes.
type bigTools int

func (h bigTools) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	if call, ok := a.(artifact.ToolCall); ok {
		e.Emit(ctx, loop.TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool,
			Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: call.ID, Content: strings.Repeat("noon ", int(h)/5)}}}})
	}
	return nil
}

// calling lets a talker call a tool so many times for each question that wants it.
func calling(p *talker, rounds int) {
	say := p.answer
	p.answer = func(ctx context.Context, k int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		results := 0
		for i := len(turns) - 1; i >= 0 && turns[i].Role != ledger.RoleUser; i-- {
			if turns[i].Role == ledger.RoleTool {
				results++
			}
		}
		if asked := said(turns[len(turns)-1-2*results]); wantsSummary(turns) || results == rounds || !strings.Contains(asked, "what time") {
			return say(ctx, k, turns)
		}
		if n := tokensIn(turns); n > p.window {
			return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
		}
		p.mu.Lock()
		p.asks = append(p.asks, turns)
		p.mu.Unlock()
		return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", k), Name: "clock", Arguments: "{}"}}, nil
	}
}

// unpaired returns the calls without a result and the results without a call in a prompt.
func unpaired(turns []ledger.Turn) (out []string) {
	open := map[string]bool{}
	for _, t := range turns {
		for _, a := range t.Artifacts {
			switch a := a.(type) {
			case artifact.ToolCall:
				open[a.ID] = true
			case artifact.ToolResult:
				if !open[a.ToolCallID] {
					out = append(out, "result of "+a.ToolCallID)
				}
				delete(open, a.ToolCallID)
			}
		}
	}
	for id := range open {
		out = append(out, "call "+id)
	}
	return out
}

// Tool exchanges and what is heard stand in a summary or in the prompt, whole: no result is without its call, and nothing that was said
// is gone, in those of answers as in those of summaries.
func TestSummariesKeepExchangesWhole(t *testing.T) {
	const channel = session.Address("slack:T1/C1/1")
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		calling(p, 2)
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) {
			c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{bigTools(100)}
		})
		said := 0
		for i := range 60 {
			for range i % 4 {
				b.accept(msg(channel, "slack:U2", fmt.Sprintf("q#%d", said), func(in *session.Inbound) {
					in.Call, in.Place, in.Author.Name = session.CallAmbient, "slack:C1", "Bo"
				}))
				said++
			}
			b.ask(msg(channel, "slack:U1", question(said), func(in *session.Inbound) {
				in.Call, in.Place, in.Author.Name = session.CallMention, "slack:C1", "Al"
				if i%3 == 1 {
					in.Text += " what time is it?"
				}
			}), []time.Duration{0, time.Minute}[i/10%2])
			said++
			if got := names(p.last()); len(got) != said {
				t.Fatalf("prompt %d knows of %d messages of %d: %v, %q", i, len(got), said, got, b.notes(channel))
			}
		}
		for _, turns := range slices.Concat(p.asks, p.sums) {
			if got := unpaired(turns); len(got) > 0 {
				t.Errorf("a prompt has %v", got)
			}
		}
		if n := len(b.summaries(channel)); n < 4 {
			t.Errorf("%d summaries", n)
		}
		b.stopLife()
	})
}

// Where what the tools brought for a question is more than the model reads, that is said, not that the question is too long; the next one
// is answered.
func TestToolsBringTooMuch(t *testing.T) {
	for name, err := range map[string]error{
		"counted here": nil, "refused": &provider.Error{Kind: provider.KindTooLong, Model: "m"}, "unplanned": &provider.Error{Kind: provider.KindTooLong, Model: "m"},
	} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			p := newTalker(fitWindow)
			say := p.answer
			p.answer = func(ctx context.Context, k int, turns []ledger.Turn) ([]artifact.Artifact, error) {
				switch last := turns[len(turns)-1]; {
				case last.Role == ledger.RoleTool && err != nil:
					return nil, err
				case strings.Contains(said(last), "what time"):
					return []artifact.Artifact{artifact.ToolCall{ID: "c", Name: "clock", Arguments: "{}"}}, nil
				}
				return say(ctx, k, turns)
			}
			size := 20_000
			if err != nil {
				size = 500
			}
			b := start(t, mem, &p.scripted, fitting, func(c *session.Config) {
				c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{bigTools(size)}
				if name == "unplanned" {
					c.ContextOf, c.Spec.NumCtx = nil, 0
				}
			})
			in := msg(dm, "slack:U1", "what time is it?")
			b.accept(in)
			time.Sleep(time.Minute)
			b.ended(in, session.EndNoticed)
			if got := b.notes(dm); len(got) != 1 || !strings.HasPrefix(got[0], "What my tools brought is more than `m` can read at once. Please ask for less") {
				t.Errorf("%s: notes %q", name, got)
			}
			b.ask(msg(dm, "slack:U1", question(1)), 0)
			b.stopLife()
		})
	}
}

// What tools say in the middle of a turn takes the room of older turns: these are summarised before the model is asked again, so that
// nothing is gone without standing there.
func TestToolsMakeRoomInMidTurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		calling(p, 4)
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) {
			c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{bigTools(700)}
		})
		for i := range 8 {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		if len(b.summaries(dm)) > 0 {
			t.Fatal("a summary was made before")
		}
		b.ask(msg(dm, "slack:U1", question(8)+" what time is it?"), 0)
		for _, turns := range p.asks[8:] {
			if got := names(turns); len(got) != 9 || len(unpaired(turns)) > 0 {
				t.Errorf("a prompt knows of %v and has %v", got, unpaired(turns))
			}
		}
		if n := len(b.summaries(dm)); n != 1 || len(p.asks) != 13 {
			t.Errorf("%d summaries, %d prompts", n, len(p.asks))
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
		b.ask(msg(dm, "slack:U1", question(9)), 0)
		if got := names(p.last()); len(got) != 10 {
			t.Errorf("the next prompt knows of %v", got)
		}
		b.stopLife()
	})
}

// Where a turn's own results are too many for the window, its first ones are left out, each with its call, and the chat is told, although
// it has been told of a summary before.
func TestResultsBeyondTheWindowAreSaid(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p, calls := newTalker(fitWindow), 0
		say := p.answer
		p.answer = func(ctx context.Context, k int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			arts, err := say(ctx, k, turns)
			if err != nil || wantsSummary(turns) || calls == 7 || !strings.Contains(whole(turns), "what time") {
				return arts, err
			}
			calls++
			return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", k), Name: "clock", Arguments: "{}"}}, nil
		}
		b := start(t, mem, &p.scripted, fitting, func(c *session.Config) {
			c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{bigTools(1500)}
		})
		for i := range 15 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		b.ask(msg(dm, "slack:U1", question(15)+" what time is it?"), 0)
		for _, turns := range p.asks {
			if got := unpaired(turns); len(got) > 0 || !strings.Contains(whole(turns), "q#0") {
				t.Errorf("a prompt has %v: %.300s", got, whole(turns))
			}
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary.", "Older messages no longer fit."})
		b.stopLife()
	})
}
