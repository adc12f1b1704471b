package bolt

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// gate is a job that holds the committer until it is opened.
type gate struct{ entered, open chan struct{} }

func newGate() *gate { return &gate{make(chan struct{}), make(chan struct{})} }

func (g *gate) size() int { return 0 }

func (g *gate) apply(*writer) error {
	close(g.entered)
	<-g.open
	return nil
}

func (g *gate) finish(error) {}

func TestBatchesThatWaitShareOneCommit(t *testing.T) {
	var groups []int
	s := opened(t, filepath.Join(t.TempDir(), "orebot.db"), Options{OnCommit: func(_ time.Duration, n int) { groups = append(groups, n) }})
	g := newGate()
	s.enqueue(g)
	<-g.entered
	done := make(chan error, 600)
	for i := range 600 {
		s.Commit(t.Context(), accept(fmt.Sprint(i)), func(_ session.Result, err error) { done <- err })
	}
	if n := s.QueueLen(); n != 600 {
		t.Errorf("%d wait", n)
	}
	close(g.open)
	for range 600 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []int{256, 256, 88}; fmt.Sprint(groups) != fmt.Sprint(want) {
		t.Errorf("commits of %v batches, want %v", groups, want)
	}
	if st := s.Stats(); st.Commits != 3 || st.Batches != 600 || st.Bytes == 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestOneCommitTakesFourMebibytes(t *testing.T) {
	var groups []int
	s := opened(t, filepath.Join(t.TempDir(), "orebot.db"), Options{OnCommit: func(_ time.Duration, n int) { groups = append(groups, n) }})
	g := newGate()
	s.enqueue(g)
	<-g.entered
	for i := range 10 {
		b := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: "s", Key: fmt.Sprint(i), Value: make([]byte, 500<<10)}}}
		s.Commit(t.Context(), b, func(session.Result, error) {})
	}
	close(g.open)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(groups) != "[8 2]" {
		t.Errorf("commits of %v batches", groups)
	}
}

// A commit that fails leaves its outcome open: here the file may grow no further.
func TestAFailedCommitEndsTheStore(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "orebot.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, accept("before"))
	watched := make(chan error, 1)
	go func() { watched <- s.Watch(t.Context(), func(session.EntryID) {}) }()
	s.db.MaxSize = 1
	g := newGate()
	s.enqueue(g)
	<-g.entered
	outcomes := make(chan error, 3)
	done := func(_ session.Result, err error) { outcomes <- err }
	s.Commit(t.Context(), session.Batch{}, done)
	s.Commit(t.Context(), turns(threadNo(1), 0, 400, "a turn that needs room"), done)
	s.Commit(t.Context(), turns(threadNo(1), 9, 1, "a conflict, if the one before was applied"), done)
	close(g.open)
	for i, want := range []error{session.ErrTooLarge, session.ErrUnknown, session.ErrUnknown} {
		if err := <-outcomes; !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	<-s.Failed()
	if s.Err() == nil || s.Valid() {
		t.Error("the store says that it works")
	}
	if _, err := session.CommitWait(t.Context(), s, accept("after")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a later batch: %v", err)
	}
	if _, _, err := s.Entry(t.Context(), session.EntryID{Address: home, Key: "before"}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a later read: %v", err)
	}
	if err := <-watched; !errors.Is(err, session.ErrClosed) {
		t.Errorf("watch: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPanicOfBboltFailsTheCommit(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "orebot.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.enqueue(panics{})
	<-s.Failed()
	if _, err := session.CommitWait(t.Context(), s, accept("1")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a later batch: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

type panics struct{}

func (panics) size() int           { return 0 }
func (panics) apply(*writer) error { panic("page 7 isn't what it was") }
func (panics) finish(error)        {}

// bbolt shows a transaction to readers before its last sync. Here one is written without the committer, which takes it as one that
// isn't on disk yet.
func TestReadsSeeOnlyWhatIsOnDisk(t *testing.T) {
	s := fresh(t)
	must(t, s, accept("1"))
	if err := s.prev.open(s.db, true); err != nil {
		t.Fatal(err)
	}
	err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketName).Delete(entryKey(entry("1", 0, 0).ID)) })
	if err != nil {
		t.Fatal(err)
	}
	read := func() bool {
		_, ok, err := s.Entry(t.Context(), entry("1", 0, 0).ID)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !read() {
		t.Error("a read saw what isn't on disk")
	}
	s.durable.Add(1)
	s.prev.close()
	if read() {
		t.Error("a read didn't see what is on disk")
	}
	rawly(t, s, func(b *bolt.Bucket) error {
		e := entry("1", 0, 0)
		v, err := encodeEntry(entryHead{order: e.Inbound.Order}, e)
		return errors.Join(err, b.Put(entryKey(e.ID), v))
	})
}

func TestTheLeaseIsAlwaysHeld(t *testing.T) {
	s := fresh(t)
	if err := s.Acquire(t.Context(), "x"); err != nil || !s.Valid() {
		t.Errorf("acquire: %v", err)
	}
	select {
	case <-s.Lost():
		t.Error("the lease is lost")
	default:
	}
}
