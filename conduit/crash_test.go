package conduit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
)

var errDied = errors.New("the process died")

// fuse stands for the life of a process: it blows at the n-th boundary of a commit or a post, and nothing happens after that.
type fuse struct {
	mu    sync.Mutex
	left  int
	blown bool
	die   context.CancelFunc
}

// pass reports whether the process is still alive behind one more boundary.
func (f *fuse) pass() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left <= 0 && !f.blown {
		f.blown = true
		f.die()
	}
	return !f.blown
}

// mortal is a store whose commits come to nothing once the fuse has blown. A commit has a boundary before and one after it.
type mortal struct {
	session.Store
	f *fuse
}

func (m mortal) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	if !m.f.pass() {
		done(session.Result{}, session.ErrClosed)
		return
	}
	m.Store.Commit(ctx, b, func(r session.Result, err error) {
		if !m.f.pass() {
			r, err = session.Result{}, session.ErrClosed
		}
		done(r, err)
	})
}

// dies runs a life that is killed at the n-th boundary, or stopped after an hour if it needs fewer. It reports whether it was killed.
func (b *bench) dies(name string, n int) bool {
	l, f := b.mortalLife(name, n)
	deadline := time.Now().Add(time.Hour)
	for time.Now().Before(deadline) && !f.isBlown() {
		time.Sleep(time.Second)
	}
	b.must(l.stop())
	b.p.Before, b.p.After = nil, nil
	b.cfg.Store = b.store
	return f.isBlown()
}

func (f *fuse) isBlown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown
}

// TestKills cuts the process down at every boundary of every commit and post, twice in a row, and lets a third life finish. Reports 1
// to 3: every part arrives, and no copy of it is unlabelled.
func TestKills(t *testing.T) {
	for _, finds := range []bool{true, false} {
		for _, stormy := range []bool{false, true} {
			t.Run(fmt.Sprintf("finds=%v,stormy=%v", finds, stormy), func(t *testing.T) {
				first := boundaries(t, finds, stormy)
				for i := 1; i <= first; i++ {
					for j := 1; kills(t, finds, stormy, i, j); j++ {
					}
				}
				t.Logf("%d boundaries in the first life", first)
			})
		}
	}
}

// boundaries counts what an undisturbed life passes.
func boundaries(t *testing.T, finds, stormy bool) (n int) {
	bubble(t, func(t *testing.T) {
		for n = 1; n < 100 && threeRecords(t, finds, stormy).dies("one", n); n++ {
		}
	})
	if n < 10 || n == 100 {
		t.Fatalf("%d boundaries", n)
	}
	return n
}

// kills runs a life killed at boundary i, one killed at j, and one that finishes. It reports whether j was reached.
func kills(t *testing.T, finds, stormy bool, i, j int) (reached bool) {
	bubble(t, func(t *testing.T) {
		b := threeRecords(t, finds, stormy)
		b.dies("one", i)
		reached = b.dies("two", j)
		b.start("three").rest(time.Hour)
		b.wantServed(placeA)
		allowed := 3
		if stormy {
			allowed++ // one post had no answer, by no kill's fault
		}
		b.wantInOrder(fmt.Sprintf("killed at %d and %d", i, j), finds, allowed)
	})
	return reached
}

var threeParts = []string{"0123456789", "abcdefghij", "klm", "notice", "short"}

// threeRecords is a thread with an answer of three parts, a notice and a short answer, the first intent of which life one has.
// In a storm the second post is done without an answer.
func threeRecords(t *testing.T, finds, stormy bool) *bench {
	b := newBench(t, finds)
	b.w.Life = "one"
	b.must(b.w.Bind(placeA))
	b.must(b.w.Answer(strings.Join(threeParts[:3], "")))
	b.must(b.w.Notice(placeA, threeParts[3]))
	b.must(b.w.Answer(threeParts[4]))
	switch {
	case stormy && finds:
		b.p.Next(placeA, conduittest.Trouble{}, failing(true, 2*time.Second))
	case stormy:
		b.p.Next(placeA, conduittest.Trouble{}, failing(true, 0))
	}
	return b
}

// wantInOrder checks that the parts of threeRecords appear in order, each at least once: exactly once and unlabelled with a
// Finder; without one, every copy after the first is labelled, and no part has more than allowed copies.
func (b *bench) wantInOrder(when string, finds bool, allowed int) {
	b.t.Helper()
	copies := make([]int, len(threeParts))
	at := 0
	for _, s := range b.p.Texts(placeA) {
		plain, labelled := strings.CutPrefix(s, repeat)
		if !finds && plain == "Part of my" { // a kill and a time-out in one life are two unknown outcomes
			continue
		}
		if at < len(threeParts)-1 && plain == threeParts[at+1] && copies[at] > 0 {
			at++
		}
		if plain != threeParts[at] || copies[at] > 0 && !labelled || finds && labelled {
			b.t.Fatalf("%s: out of order or unlabelled: %q", when, b.p.Texts(placeA))
		}
		copies[at]++
	}
	for _, n := range copies {
		if n == 0 || finds && n > 1 || n > allowed {
			b.t.Fatalf("%s: %v copies: %q", when, copies, b.p.Texts(placeA))
		}
	}
}
