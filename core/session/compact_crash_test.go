package session_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/store/bolt"
)

// dying is a store that dies at a Batch with a summary, or at the one after it; the Batch is applied or not without anybody learning of it.
type dying struct {
	session.Store
	after, applied bool

	mu         sync.Mutex
	dead, next bool
}

func (d *dying) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	d.mu.Lock()
	summary := slices.ContainsFunc(b.Log, func(r session.LogRecord) bool { return r.Turn != nil && r.Turn.Covers != 0 })
	now := !d.dead && (summary && !d.after || d.next)
	d.next, d.dead = d.next || summary && d.after, d.dead || now
	dead := d.dead
	d.mu.Unlock()
	commitDying(ctx, d.Store, b, done, dead, now && d.applied)
}

// commitDying hands a Batch on while the store is alive. Of the commit at which it dies, nobody learns whether it was applied.
func commitDying(ctx context.Context, st session.Store, b session.Batch, done func(session.Result, error), dead, applied bool) {
	switch {
	case !dead:
		st.Commit(ctx, b, done)
	case applied:
		st.Commit(ctx, b, func(session.Result, error) { done(session.Result{}, session.ErrUnknown) })
	default:
		go done(session.Result{}, session.ErrClosed)
	}
}

// Where a life ends at a summary's commit, with or without it, or at the one after it, no summary is doubled, lost or half there, and
// the conversation goes on; in the chat it is told once.
func TestDeathWhileSummarising(t *testing.T) {
	for _, d := range []*dying{{}, {applied: true}, {after: true}, {after: true, applied: true}} {
		t.Run(fmt.Sprintf("after %v, applied %v", d.after, d.applied), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				d.Store = mem
				dieSummarising(t, d)
			})
		})
	}
}

func dieSummarising(t *testing.T, d *dying) {
	p := newTalker(fitWindow)
	p.slow = time.Second
	b := start(t, d.Store, &p.scripted, fitting, func(c *session.Config) { c.Store = d })
	i := 0
	var last session.Inbound
	for ; !d.dead; i++ {
		last = msg(dm, "slack:U1", question(i))
		b.m.Accept(context.Background(), last, func(session.Receipt) {})
		time.Sleep(time.Minute)
		synctest.Wait()
		if i > 40 {
			t.Error("it never died")
			break
		}
	}
	b.stopLife()
	b = start(t, d.Store, &p.scripted, fitting)
	b.ask(last, time.Minute) // its platform redelivers what wasn't acknowledged
	for n := i + 20; i < n; i++ {
		b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		if got := len(names(p.asks[len(p.asks)-1])); got != i+1 {
			t.Errorf("the prompt knows of %d questions, want %d", got, i+1)
		}
	}
	var before ledger.Seq
	for _, s := range b.summaries(dm) {
		if s.Covers <= before {
			t.Errorf("a summary covers up to %d after one up to %d", s.Covers, before)
		}
		before = s.Covers
	}
	equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
	b.stopLife()
}

// kill lets the store die now.
func (d *dying) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

// The process is killed in the middle of a summary that somebody waits for, or at its commit: the message is answered in the next life,
// with all that was said before it, and the summary is there once. On the memory store and on a database file.
func TestDeathWhileSomebodyWaitsForASummary(t *testing.T) {
	for _, when := range []string{"in the call", "before the commit", "at the commit", "behind it"} {
		t.Run(when+", in memory", func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				dieWaiting(t, when, func() session.Store { return mem }, func(session.Store) {})
			})
		})
		t.Run(when+", on disk", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "orebot.db")
			synctest.Test(t, func(t *testing.T) {
				dieWaiting(t, when, func() session.Store {
					s, err := bolt.Open(path, bolt.Options{})
					if err != nil {
						t.Fatal(err)
					}
					return s
				}, func(s session.Store) {
					if err := s.(*bolt.Store).Close(); err != nil {
						t.Error(err)
					}
				})
			})
		})
	}
}

func dieWaiting(t *testing.T, when string, open func() session.Store, closed func(session.Store)) {
	p := newTalker(fitWindow)
	p.slow = 20 * time.Second
	st := open()
	d := &dying{Store: st, applied: when != "before the commit", after: when == "behind it"}
	b := start(t, d, &p.scripted, fitting, func(c *session.Config) { c.ShutdownGrace = 0 })
	var last session.Inbound
	i := 0
	for ; ; i++ {
		last = msg(dm, "slack:U1", question(i))
		b.accept(last)
		time.Sleep(time.Second)
		synctest.Wait()
		if _, sums := p.counts(); sums > 0 {
			break
		}
		b.ended(last, session.EndAnswered)
	}
	if when == "in the call" {
		d.kill()
	} else {
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !d.dead {
			t.Error("it didn't die")
		}
	}
	b.stopLife()
	closed(st)
	st = open()
	b = start(t, st, &p.scripted, fitting)
	if r := b.accept(last); !r.Duplicate {
		t.Errorf("delivered again: %+v", r)
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	b.ended(last, session.EndAnswered)
	if got := names(p.last()); len(got) != i+1 {
		t.Errorf("the prompt knows of %v, want %d", got, i+1)
	}
	if n := len(b.summaries(dm)); n != 1 {
		t.Errorf("%d summaries", n)
	}
	equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
	b.stopLife()
	closed(st)
}

// Whatever commit of a deletion from before the live window the process dies at, in the end no summary says it, and all else is known.
func TestDeathAtEveryCommitOfAFarDeletion(t *testing.T) {
	atEveryDeath(t, 6, func(t *testing.T, mem *storetest.Memory, applied bool, left int) {
		p := newTalker(fitWindow)
		b, secret := talked(t, mem, p, 45)
		b.stopLife()
		next := msg(dm, "slack:U1", question(45))
		for _, n := range []int{left, 1 << 30} {
			c := &crashing{Memory: mem, left: n, applied: applied}
			c.run(t, &p.scripted, []session.Inbound{deletion(secret), next}, fitting, func(c *session.Config) { c.WindowBytes = 16 << 10 })
		}
		b.ended(next, session.EndAnswered)
		b.told("q#0 ")
		if got := names(p.last()); len(got) != 45 || got[0] != "q#1" {
			t.Errorf("the prompt knows of %d questions: %v", len(got), got)
		}
	})
}
