package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
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
