package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// crowded counts how many calls a talker has at the same time.
type crowded struct {
	*talker
	mu        sync.Mutex
	now, most int
}

func (p *crowded) step(d int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += d
	p.most = max(p.most, p.now)
}

// Two conversations outgrow the window at the same moments: whoever waits is served first, no more calls run than the model takes, and
// each has summaries of its own.
func TestTwoThreadsAreSummarisedAtOnce(t *testing.T) {
	for _, slots := range []int{1, 2} {
		for _, pause := range []time.Duration{time.Second, time.Minute} { // too short for a summary in between, and long enough
			t.Run(fmt.Sprint(slots, pause), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) { twoThreads(t, mem, slots, pause) })
			})
		}
	}
}

func twoThreads(t *testing.T, mem *storetest.Memory, slots int, pause time.Duration) {
	p := &crowded{talker: newTalker(fitWindow)}
	p.slow = 10 * time.Second
	say := p.answer
	p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		p.step(1)
		defer p.step(-1)
		return say(ctx, n, turns)
	}
	b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.MaxConcurrent = slots })
	places := []session.Address{"slack:T1/D1", "slack:T1/D2"}
	for i := range 30 {
		var in []session.Inbound
		for k, a := range places {
			in = append(in, msg(a, fmt.Sprintf("slack:U%d", k), question(1000*(k+1)+i)))
			b.accept(in[k])
		}
		time.Sleep(pause)
		for waited := pause; b.entry(in[0]).State != session.EntryEnded || b.entry(in[1]).State != session.EntryEnded; waited += time.Second {
			if waited > 5*time.Minute {
				t.Fatalf("question %d isn't answered", i)
			}
			time.Sleep(time.Second)
		}
	}
	time.Sleep(5 * time.Second) // a summary that nobody waits for is under way, or none is
	other := msg("slack:T1/D3", "slack:U9", "quick")
	b.accept(other)
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	b.ended(other, session.EndAnswered)
	for k, a := range places {
		all := b.summaries(a)
		for _, s := range all {
			for _, q := range names([]ledger.Turn{s}) {
				if !strings.HasPrefix(q, fmt.Sprintf("q#%d0", k+1)) {
					t.Errorf("a summary of %s names %s", a, q)
				}
			}
		}
		if len(all) < 2 {
			t.Errorf("%d summaries of %s", len(all), a)
		}
		if got := b.notes(a); len(got) != 1 || got[0] != "Older messages no longer fit; I keep a summary." {
			t.Errorf("notes of %s: %q", a, got)
		}
	}
	if p.most > slots {
		t.Errorf("%d calls at once", p.most)
	}
	b.stopLife()
}

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

// A model server that can't be reached for a summary is tried again, as for an answer: nothing is left out for it.
func TestASummaryWaitsForTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		failures := 0
		p.summary = func(turns []ledger.Turn) ([]artifact.Artifact, error) {
			if failures++; failures%3 > 0 {
				return nil, &provider.Error{Kind: provider.KindUnreachable}
			}
			return text("They asked " + strings.Join(names(turns), " ")), nil
		}
		b := start(t, mem, &p.scripted, fitting)
		for i := range 40 {
			in := msg(dm, "slack:U1", question(i))
			b.accept(in)
			for b.entry(in).State != session.EntryEnded {
				time.Sleep(time.Second)
			}
			b.ended(in, session.EndAnswered)
			if got := names(p.last()); len(got) != i+1 {
				t.Errorf("prompt %d knows of %v", i, got)
			}
		}
		if failures < 6 {
			t.Errorf("%d calls", failures)
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
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

// The line about the summary comes once in a conversation, whatever restarts there are.
func TestTheLineAboutTheSummaryComesOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		for i := range 50 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Duration(i%3)*5*time.Second)
			if i%2 == 0 {
				b.stopLife()
				b = start(t, mem, &p.scripted, fitting)
			}
			if got := names(p.last()); len(got) != i+1 {
				t.Errorf("prompt %d knows of %d questions", i, len(got))
			}
		}
		if n := len(b.summaries(dm)); n < 3 {
			t.Errorf("%d summaries", n)
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
		b.stopLife()
	})
}
