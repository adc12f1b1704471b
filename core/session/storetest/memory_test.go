package storetest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

func TestMemoryKeepsThePort(t *testing.T) {
	storetest.Run(t, false, func(*testing.T) storetest.Opener {
		return func(*testing.T) storetest.Store { return storetest.NewMemory() }
	})
}

func open(key string) session.Batch {
	in := session.Inbound{Key: key, Address: "slack:T1/D1", Order: key}
	return session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: session.Entry{ID: in.ID(), Inbound: in}}}}
}

func TestFailNextFailsOneBatch(t *testing.T) {
	m := storetest.NewMemory()
	defer m.Close() //nolint:errcheck // never fails
	b := open("1")
	m.FailNext(session.ErrUnknown)
	if _, err := session.CommitWait(t.Context(), m, b); !errors.Is(err, session.ErrUnknown) {
		t.Fatalf("commit: %v", err)
	}
	if _, err := session.CommitWait(t.Context(), m, b); err != nil {
		t.Fatalf("the same again: %v", err)
	}
	if m.Commits() != 1 {
		t.Errorf("%d commits", m.Commits())
	}
}

func TestFailNextAppliedIsSettledByCommittingAgain(t *testing.T) {
	m := storetest.NewMemory()
	defer m.Close() //nolint:errcheck // never fails
	b := open("1")
	m.FailNextApplied(session.ErrUnknown)
	if _, err := session.CommitWait(t.Context(), m, b); !errors.Is(err, session.ErrUnknown) {
		t.Fatalf("commit: %v", err)
	}
	_, err := session.CommitWait(t.Context(), m, b)
	var c *session.Conflict
	if !errors.As(err, &c) || !c.Applied {
		t.Fatalf("the same again: %v", err)
	}
}

func TestHoldDelaysCommitsUntilRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.NewMemory()
		m.Hold()
		var at time.Time
		m.Commit(t.Context(), open("1"), func(session.Result, error) { at = time.Now() })
		start := time.Now()
		time.Sleep(time.Second)
		m.Release()
		synctest.Wait()
		if at.Sub(start) != time.Second {
			t.Errorf("done came after %v", at.Sub(start))
		}
		m.Hold()
		failed := make(chan error, 1)
		m.Commit(t.Context(), open("2"), func(_ session.Result, err error) { failed <- err })
		m.Close() //nolint:errcheck // never fails
		if err := <-failed; !errors.Is(err, session.ErrClosed) {
			t.Errorf("what was held at close: %v", err)
		}
	})
}

func TestAnEarlierExpiryIsKept(t *testing.T) {
	m := storetest.NewMemory()
	defer m.Close() //nolint:errcheck // never fails
	when := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b := open("1")
	b.Entries[0].Expires = when
	if _, err := session.CommitWait(t.Context(), m, b); err != nil {
		t.Fatal(err)
	}
	next := open("1")
	next.Entries[0].Rev = b.ID
	if _, err := session.CommitWait(t.Context(), m, next); err != nil {
		t.Fatal(err)
	}
	if got := m.Expiry(b.Entries[0].Entry.ID); !got.Equal(when) {
		t.Errorf("it expires %v", got)
	}
}
