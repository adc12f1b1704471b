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

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// talked is a life in which so many questions were asked, a minute apart, of which the first is returned. Its live window holds about
// forty of them.
func talked(t *testing.T, mem *storetest.Memory, p *talker, n int, change ...func(*session.Config)) (*bench, session.Inbound) {
	t.Helper()
	b := start(t, mem, &p.scripted, append([]func(*session.Config){fitting, func(c *session.Config) { c.WindowBytes = 16 << 10 }}, change...)...)
	first := msg(dm, "slack:U1", question(0))
	b.ask(first, time.Minute)
	for i := 1; i < n; i++ {
		b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
	}
	return b, first
}

// signalled hands a signal over and gives what follows of it time.
func (b *bench) signalled(in session.Inbound) {
	b.t.Helper()
	b.accept(in)
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	if e := b.entry(in); e.State != session.EntryApplied {
		b.t.Errorf("the signal has the state %d", e.State)
	}
}

// last is the newest prompt of an answer.
func (p *talker) last() []ledger.Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asks[len(p.asks)-1]
}

// told fails where a summary on the log says something.
func (b *bench) told(word string) {
	b.t.Helper()
	for _, s := range b.summaries(dm) {
		if strings.Contains(whole([]ledger.Turn{s}), word) {
			b.t.Errorf("summary %d still says %q", s.ID.Seq, word)
		}
	}
}

// A message that lies before the live window is deleted: no summary goes on telling it, and they are made anew of what is left, at once,
// before anybody asks. In a long conversation, where that would be too much, the chat is told that something is left out.
func TestADeletionFromBeforeTheWindow(t *testing.T) {
	for _, tt := range []struct {
		questions int
		notes     []string
	}{
		{55, []string{"Older messages no longer fit; I keep a summary."}},
		{250, []string{"Older messages no longer fit; I keep a summary.", "Older messages no longer fit."}},
	} {
		t.Run(fmt.Sprint(tt.questions), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := newTalker(fitWindow)
				n := tt.questions
				b, secret := talked(t, mem, p, n)
				_, sums := p.counts()
				b.signalled(deletion(secret))
				if _, now := p.counts(); now < sums+2 {
					t.Errorf("%d summaries were begun", now-sums)
				}
				b.told("q#0 ")
				for i := range 5 {
					b.ask(msg(dm, "slack:U1", question(n+i)), time.Minute)
					got := names(p.last())
					if slices.Contains(got, "q#0") || len(got) < 50 || len(tt.notes) == 1 && len(got) != n+i {
						t.Errorf("prompt %d knows of %d questions: %v", n+i, len(got), got)
					}
				}
				b.told("q#0 ")
				if size, _ := b.m.Window(dm); size > 9*16<<10 {
					t.Errorf("the window has %d bytes", size)
				}
				equal(t, "notes", b.notes(dm), tt.notes)
				b.stopLife()
				b = start(t, mem, &p.scripted, fitting)
				b.ask(msg(dm, "slack:U1", question(n+5)), 0)
				b.stopLife()
			})
		})
	}
}

// A message that lies before the live window is edited: the summaries of it say so, in one line for each message, and all else that they
// say stays. Where that is too much, they are made anew.
func TestAnEditFromBeforeTheWindow(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		const n = 40
		b, first := talked(t, mem, p, 2)
		var more []session.Inbound
		for i := 2; i < n; i++ {
			in := msg(dm, "slack:U1", question(i))
			b.ask(in, time.Minute)
			if more = append(more, in); len(more) > 5 {
				more = more[:5]
			}
		}
		knows := func(i, want int, word string) {
			t.Helper()
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			if got := names(p.last()); len(got) < want || !strings.Contains(whole(p.last()), word) {
				t.Errorf("prompt %d knows of %d questions, want %d: %.3000s", i, len(got), want, whole(p.last()))
			}
		}
		for i, word := range []string{"blue", "red", "green"} {
			b.signalled(edit(first, "the colour is "+word))
			knows(n+i, n+1+i, "“the colour is "+word+"”")
		}
		if s := whole(p.last()); strings.Contains(s, "red") || strings.Count(s, "Changed afterwards") != 1 {
			t.Errorf("the summary: %.600s", s)
		}
		_, sums := p.counts()
		for i, in := range more { // too many for one summary: it is made anew, from what they say now
			b.signalled(edit(in, fmt.Sprintf("q#%d is “yellow” now%s", 901+i, strings.Repeat(" indeed", 100))))
		}
		if _, now := p.counts(); now < sums+2 || !slices.ContainsFunc(p.sums[sums:], func(turns []ledger.Turn) bool {
			return strings.Contains(whole(turns), "<user>q#905 is “yellow” now indeed")
		}) {
			t.Errorf("%d summaries were begun", now-sums)
		}
		knows(n+3, n, "q#905")
		b.stopLife()
	})
}

// chunked is a store that dies at the n-th Batch with rewrites, which is applied or not; 0: it never does.
type chunked struct {
	*storetest.Memory
	at      int
	applied bool

	mu      sync.Mutex
	batches int
	dead    bool
	most    int // rewrites in one
}

func (c *chunked) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	c.mu.Lock()
	now := false
	if len(b.Rewrites) > 0 && !c.dead {
		c.batches++
		c.most = max(c.most, len(b.Rewrites))
		now = c.batches == c.at
	}
	c.dead = c.dead || now
	dead := c.dead
	c.mu.Unlock()
	commitDying(ctx, c.Memory, b, done, dead, now && c.applied)
}

// summarised puts so many exchanges on the log, each with a summary that names the first question.
func summarised(t *testing.T, mem *storetest.Memory, n int) {
	t.Helper()
	id := at(t, mem, dm).Binding.Thread
	st, _, _, err := mem.Thread(t.Context(), id)
	for i := 0; i < n && err == nil; i++ {
		b := session.Batch{ID: session.NewBatchID(), Thread: id, After: st.Last}
		for _, turn := range []ledger.Turn{
			{Role: ledger.RoleUser, Artifacts: text("and then?")}, {Role: ledger.RoleAssistant, Artifacts: text("then that")},
			{Role: ledger.RoleSystem, Artifacts: text("They asked q#0 first."), Covers: st.Last},
		} {
			st.Last++
			turn.ID, turn.Parent = ledger.TurnID{Thread: id, Seq: st.Last}, st.Tip
			st.Tip = st.Last
			b.Log = append(b.Log, session.LogRecord{Seq: st.Last, Kind: session.KindTurn, Turn: &turn})
		}
		b.State = &st
		_, err = session.CommitWait(t.Context(), mem, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A deletion empties more summaries than one Batch holds, whatever Batch of it the process dies at.
func TestADeletionEmptiesEverySummary(t *testing.T) {
	for at := range 3 {
		for _, applied := range []bool{false, true}[:min(at+1, 2)] {
			t.Run(fmt.Sprint(at, applied), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) { emptied(t, &chunked{Memory: mem, at: at, applied: applied}) })
			})
		}
	}
}

func emptied(t *testing.T, c *chunked) {
	const n = 430
	p := newTalker(fitWindow)
	b, secret := talked(t, c.Memory, p, 3)
	b.stopLife()
	summarised(t, c.Memory, n)
	if got := len(b.summaries(dm)); got < n {
		t.Fatalf("%d summaries", got)
	}
	b = start(t, c.Memory, &p.scripted, fitting, func(cfg *session.Config) { cfg.Store = c })
	gone := deletion(secret)
	b.m.Accept(context.Background(), gone, func(session.Receipt) {})
	time.Sleep(time.Minute)
	synctest.Wait()
	b.stopLife()
	if c.at > 0 {
		if !c.dead {
			t.Error("it never died")
		}
		b = start(t, c.Memory, &p.scripted, fitting)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.stopLife()
	}
	b.told("q#0 ")
	if e := b.entry(gone); e.State != session.EntryApplied {
		t.Errorf("the deletion has the state %d", e.State)
	}
	if c.batches < 2 && c.at != 1 || c.most > 450 {
		t.Errorf("%d Batches with up to %d rewrites", c.batches, c.most)
	}
}

// amnesic is a store in which one entry has expired.
type amnesic struct {
	session.Store
	id session.EntryID
}

func (a *amnesic) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	if id == a.id {
		return session.StoredEntry{}, false, nil
	}
	return a.Store.Entry(ctx, id)
}

// An edit and a deletion of a message whose entry has expired reach the summaries too: its turn is found by the platform's id.
func TestSignalsOfExpiredMessagesReachSummaries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b, first := talked(t, mem, p, 50)
		b.stopLife()
		b = start(t, &amnesic{mem, first.ID()}, &p.scripted, fitting, func(c *session.Config) { c.WindowBytes = 16 << 10 })
		b.signalled(edit(first, "the colour is blue"))
		b.ask(msg(dm, "slack:U1", question(50)), time.Minute)
		if got := names(p.last()); len(got) != 51 || !strings.Contains(whole(p.last()), "“the colour is blue”") {
			t.Errorf("the prompt knows of %d questions: %.800s", len(got), whole(p.last()))
		}
		b.signalled(deletion(first))
		b.told("blue")
		b.told("q#0 ")
		b.ask(msg(dm, "slack:U1", question(51)), time.Minute)
		if got := names(p.last()); len(got) != 51 || got[0] != "q#1" {
			t.Errorf("the prompt knows of %v", got)
		}
		b.stopLife()
	})
}
