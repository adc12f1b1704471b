package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing/synctest"

	"orebot/core/session"
)

// feedLaws are about Watch.
func feedLaws() []law {
	return []law{
		{"watch lists what waits, then what comes", watchAll},
		{"watch names only what comes to wait", watchOnly},
		{"watch lists again", watchAgain},
		{"a slow watcher holds up nobody and misses nothing", watchSlow},
		{"watch ends with its context, or with the store", watchEnds},
	}
}

// watching is a Watch in a goroutine.
type watching struct {
	mu     sync.Mutex
	seen   map[session.EntryID]int
	cancel context.CancelFunc
	err    chan error
}

func (f *fixture) watch(each func(session.EntryID)) *watching {
	ctx, cancel := context.WithCancel(f.Context())
	w := &watching{seen: make(map[session.EntryID]int), cancel: cancel, err: make(chan error, 1)}
	go func() {
		w.err <- f.Store.Watch(ctx, func(id session.EntryID) {
			w.mu.Lock()
			w.seen[id]++
			w.mu.Unlock()
			if each != nil {
				each(id)
			}
		})
	}()
	return w
}

func (w *watching) count(id session.EntryID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[id]
}

// stop ends the Watch, which has to return nil.
func (f *fixture) stop(w *watching) {
	f.Helper()
	w.cancel()
	if err := <-w.err; err != nil {
		f.Errorf("watch: %v", err)
	}
}

func watchAll(f *fixture) {
	for i := range 600 {
		f.pending(accept(message(home, fmt.Sprintf("old%d", i), "1")))
	}
	submitted := message(home, "submitted", "2")
	submitted.State = session.EntrySubmitted
	f.must(accept(submitted))
	w := f.watch(nil)
	for i := range 600 {
		f.pending(accept(message(other, fmt.Sprintf("new%d", i), "1")))
	}
	f.must(accept(message(other, "last", "1")))
	synctest.Wait()
	for i := range 600 {
		for _, id := range []session.EntryID{{Address: home, Key: fmt.Sprintf("old%d", i)}, {Address: other, Key: fmt.Sprintf("new%d", i)}} {
			if w.count(id) == 0 {
				f.Fatalf("%s was not named", id)
			}
		}
	}
	if w.count(submitted.ID) == 0 || len(w.seen) != 1202 {
		f.Errorf("%d entries were named", len(w.seen))
	}
	f.stop(w)
}

func watchOnly(f *fixture) {
	w := f.watch(nil)
	synctest.Wait()
	e, refused := message(home, "1", "1"), ended(message(home, "2", "2"), session.EndRefused)
	r := f.must(accept(e))
	f.must(accept(refused))
	f.conflict(accept(e))
	synctest.Wait()
	if w.count(e.ID) != 1 || w.count(refused.ID) != 0 {
		f.Errorf("named %v", w.seen)
	}
	r = f.must(change(ended(e, session.EndNoticed), r.Rev))
	synctest.Wait()
	if w.count(e.ID) != 1 {
		f.Errorf("an entry that ended was named")
	}
	f.must(change(e, r.Rev)) // retry: it is open again
	synctest.Wait()
	if w.count(e.ID) != 2 {
		f.Errorf("an entry that waits again was not named")
	}
	f.stop(w)
}

func watchAgain(f *fixture) {
	e := message(home, "1", "1")
	r := f.must(accept(e))
	for range 2 {
		w := f.watch(nil)
		synctest.Wait()
		if w.count(e.ID) != 1 {
			f.Errorf("named %v", w.seen)
		}
		f.stop(w)
	}
	f.reopen()
	f.must(change(ended(e, session.EndAnswered), r.Rev))
	w := f.watch(nil)
	synctest.Wait()
	if len(w.seen) != 0 {
		f.Errorf("named %v", w.seen)
	}
	f.stop(w)
}

func watchSlow(f *fixture) {
	gate := make(chan struct{})
	slow := f.watch(func(session.EntryID) { <-gate })
	quick := f.watch(nil)
	for i := range 300 {
		f.must(accept(message(home, fmt.Sprint(i), "1")))
	}
	synctest.Wait()
	if len(quick.seen) != 300 {
		f.Errorf("the quick one knows %d", len(quick.seen))
	}
	close(gate)
	synctest.Wait()
	if len(slow.seen) != 300 {
		f.Errorf("the slow one knows %d", len(slow.seen))
	}
	f.stop(slow)
	f.stop(quick)
}

func watchEnds(f *fixture) {
	w := f.watch(nil)
	synctest.Wait()
	f.stop(w)
	w = f.watch(nil)
	synctest.Wait()
	if err := f.Store.Close(); err != nil {
		f.Fatal(err)
	}
	if err := <-w.err; !errors.Is(err, session.ErrClosed) {
		f.Errorf("watch of a closed store: %v", err)
	}
	w.cancel()
	f.Store = f.open(f.T)
}
