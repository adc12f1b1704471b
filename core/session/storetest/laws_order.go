package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"orebot/core/ledger"
	"orebot/core/session"
)

// orderLaws are about many Batches at once.
func orderLaws() []law {
	return []law{
		{"done comes once, in order for a thread", doneOnce},
		{"a refusal keeps its place", refusalInOrder},
		{"a patient batch is committed though nothing follows", patientAlone},
		{"a patient batch keeps its place", patientInOrder},
		{"a batch may be committed from done", fromDone},
		{"what done was told can be read", readYourWrites},
		{"many writers, each thread dense", writers},
		{"of many who put one entry one wins", race},
	}
}

func doneOnce(f *fixture) {
	const n = 200
	id := threadNo(1)
	var mu sync.Mutex
	var got []ledger.Seq
	all := make(chan struct{}, 2*n)
	for i := range n {
		f.Store.Commit(f.Context(), appending(id, ledger.Seq(i), 1), func(r session.Result, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				f.Errorf("batch %d: %v", i, err)
			}
			got = append(got, r.Last)
			all <- struct{}{}
		})
	}
	for range n {
		<-all
	}
	f.must(appending(id, n, 1))
	if len(got) != n {
		f.Errorf("done was called %d times", len(got))
	}
	for i, last := range got {
		if last != ledger.Seq(i+1) {
			f.Fatalf("done %d tells of record %d", i, last)
		}
	}
}

func refusalInOrder(f *fixture) {
	id := threadNo(1)
	order := make(chan int, 10)
	bad := appending(id, 1, 1)
	bad.State = nil
	for i, b := range []session.Batch{appending(id, 0, 1), bad, appending(id, 1, 1)} {
		f.Store.Commit(f.Context(), b, func(_ session.Result, err error) {
			if errors.Is(err, session.ErrTooLarge) != (i == 1) {
				f.Errorf("batch %d: %v", i, err)
			}
			order <- i
		})
	}
	for want := range 3 {
		if got := <-order; got != want {
			f.Errorf("outcome %d came in place %d", got, want)
		}
	}
}

func fromDone(f *fixture) {
	id := threadNo(1)
	end := make(chan error, 1)
	var next func(after ledger.Seq)
	next = func(after ledger.Seq) {
		f.Store.Commit(f.Context(), appending(id, after, 1), func(r session.Result, err error) {
			if err != nil || r.Last == 20 {
				end <- err
				return
			}
			next(r.Last)
		})
	}
	next(0)
	if err := <-end; err != nil {
		f.Error(err)
	}
}

func readYourWrites(f *fixture) {
	for i := range 100 {
		e := message(home, fmt.Sprint(i), "1")
		f.must(accept(e))
		behind := f.pending(accept(message(other, fmt.Sprint(i), "1"))) // a commit under way during the read
		_, ok, err := f.Store.Entry(f.Context(), e.ID)
		f.ok(err)
		if !ok {
			f.Fatalf("entry %d can't be read after its commit", i)
		}
		<-behind
	}
}

func writers(f *fixture) {
	const threads, batches = 16, 20
	var wg sync.WaitGroup
	for n := range threads {
		wg.Go(func() {
			id, a := threadNo(n), session.Address(fmt.Sprintf("slack:T1/C%d", n))
			var cursor session.Revision
			for i := range batches {
				e := message(a, fmt.Sprint(i), "1")
				r := f.must(accept(e))
				b := exchange(id, ledger.Seq(i), e, r.Rev, cursor)
				f.must(b)
				cursor = b.ID
				if _, err := f.Store.Log(f.Context(), id, 1, 100); err != nil {
					f.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for n := range threads {
		log, err := f.Store.Log(f.Context(), threadNo(n), 1, 100)
		f.ok(err)
		for i, r := range log {
			if r.Seq != ledger.Seq(i+1) {
				f.Fatalf("thread %d: record %d in place %d", n, r.Seq, i)
			}
		}
		if len(log) != batches {
			f.Errorf("thread %d has %d records", n, len(log))
		}
	}
	f.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: threads * batches}})
}

func race(f *fixture) {
	var wins, losses atomic.Int32
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			_, err := session.CommitWait(f.Context(), f.Store, accept(message(home, "1", "1")))
			var c *session.Conflict
			switch {
			case err == nil:
				wins.Add(1)
			case errors.As(err, &c) && !c.Applied:
				losses.Add(1)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 || losses.Load() != 31 {
		f.Errorf("%d won, %d lost", wins.Load(), losses.Load())
	}
}

func patientAlone(f *fixture) {
	b := appending(threadNo(1), 0, 1)
	b.Patient = true
	f.must(b)
}

func patientInOrder(f *fixture) {
	id := threadNo(1)
	order := make(chan int, 3)
	for i := range 3 {
		b := appending(id, ledger.Seq(i), 1)
		b.Patient = i < 2
		f.Store.Commit(f.Context(), b, func(_ session.Result, err error) {
			if err != nil {
				f.Errorf("batch %d: %v", i, err)
			}
			order <- i
		})
	}
	for want := range 3 {
		if got := <-order; got != want {
			f.Errorf("batch %d is told before batch %d", got, want)
		}
	}
}
