package storetest

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"orebot/core/session"
)

// Store is what Run tests.
type Store interface {
	session.Store
	io.Closer
}

// Opener opens the store of one test. When it is called again after Close, a durable store shows what it held.
type Opener func(t *testing.T) Store

// checker is a store that can look itself over; every test ends with it.
type checker interface {
	Check(ctx context.Context) error
}

// Run holds an implementation to every law of the port. fresh makes the Opener of an empty store; durable says that a store that is
// opened again still holds everything. Each law is tested in a synctest bubble: a store that never calls done, or leaves a
// goroutine behind after Close, deadlocks it and fails.
func Run(t *testing.T, durable bool, fresh func(t *testing.T) Opener) {
	for _, group := range [][]law{batchLaws(), conflictLaws(), logLaws(), recordLaws(), entryLaws(), listLaws(), feedLaws(), orderLaws(), eraseLaws()} {
		for _, l := range group {
			t.Run(l.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &fixture{T: t, open: fresh(t), durable: durable}
					f.Store = f.open(t)
					l.test(f)
					f.close()
				})
			})
		}
	}
}

// law is one promise and its test.
type law struct {
	name string
	test func(f *fixture)
}

// fixture is what a law's test works with.
type fixture struct {
	*testing.T
	Store   Store
	open    Opener
	durable bool
}

func (f *fixture) close() {
	f.Helper()
	if c, ok := f.Store.(checker); ok {
		if err := c.Check(f.Context()); err != nil {
			f.Errorf("the store is inconsistent: %v", err)
		}
	}
	if err := f.Store.Close(); err != nil {
		f.Errorf("close: %v", err)
	}
}

// reopen closes the store and opens it again, where it is durable.
func (f *fixture) reopen() {
	f.Helper()
	if !f.durable {
		return
	}
	f.close()
	f.Store = f.open(f.T)
}

// must commits a Batch that has to succeed.
func (f *fixture) must(b session.Batch) session.Result {
	f.Helper()
	r, err := session.CommitWait(f.Context(), f.Store, b)
	if err != nil {
		f.Fatalf("commit: %v", err)
	}
	if r.Rev != b.ID {
		f.Fatalf("the result's revision is %s, the batch's id %s", r.Rev, b.ID)
	}
	return r
}

// conflict commits a Batch that has to fail with a Conflict.
func (f *fixture) conflict(b session.Batch) *session.Conflict {
	f.Helper()
	_, err := session.CommitWait(f.Context(), f.Store, b)
	var c *session.Conflict
	if !errors.As(err, &c) {
		f.Fatalf("commit: %v, want a conflict", err)
	}
	return c
}

// refused commits a Batch that has to be refused as malformed or too large.
func (f *fixture) refused(b session.Batch) {
	f.Helper()
	if _, err := session.CommitWait(f.Context(), f.Store, b); !errors.Is(err, session.ErrTooLarge) {
		f.Fatalf("commit: %v, want ErrTooLarge", err)
	}
}

// ok ends the test on an error of a read.
func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("read: %v", err)
	}
}

// pending starts a commit and returns its outcome to be read later.
func (f *fixture) pending(b session.Batch) <-chan error {
	ch := make(chan error, 2) // room for a second, wrong call
	f.Store.Commit(f.Context(), b, func(_ session.Result, err error) { ch <- err })
	return ch
}
