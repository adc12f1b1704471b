package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

const dm = session.Address("slack:T1/D1")

func put(t *testing.T, s session.Store, b session.Batch) session.Result {
	t.Helper()
	b.ID = session.NewBatchID()
	r, err := session.CommitWait(t.Context(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// waits is an entry that was written at a time.
func waits(key string, at time.Time) session.Entry {
	in := session.Inbound{Key: key, Address: dm, Order: key, Text: "?", At: at, Author: session.Author{ID: "slack:U1"}, Message: key}
	return session.Entry{ID: in.ID(), Inbound: in}
}

func TestTheOldestMessageWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		a := newAges(store, time.Now)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = a.run(ctx) }()
		expect := func(want time.Duration) {
			t.Helper()
			synctest.Wait()
			if got, err := a.entry(ctx); got != want || err != nil {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
		expect(0)
		old, young := waits("1", time.Now().Add(-time.Hour)), waits("2", time.Now())
		put(t, store, session.Batch{Entries: []session.EntryWrite{{Entry: young}}})
		put(t, store, session.Batch{Entries: []session.EntryWrite{{Entry: old}}})
		time.Sleep(time.Minute)
		expect(time.Hour + time.Minute)
		e, _, err := store.Entry(ctx, old.ID)
		if err != nil {
			t.Fatal(err)
		}
		e.State, e.End = session.EntryEnded, session.EndNoticed
		put(t, store, session.Batch{Entries: []session.EntryWrite{{Entry: e.Entry, Rev: e.Rev}}})
		expect(time.Minute)
		if n := len(a.named()); n != 1 {
			t.Errorf("%d messages are remembered", n)
		}
	})
}

func TestTheOldestAnswerThatIsNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		a := newAges(store, time.Now)
		thread := session.ThreadOf(session.EntryID{Address: dm, Key: "1"})
		record := func(seq ledger.Seq, role ledger.Role) session.LogRecord {
			return session.LogRecord{Seq: seq, Kind: session.KindTurn, Turn: &ledger.Turn{
				ID: ledger.TurnID{Thread: thread, Seq: seq}, Parent: seq - 1, Role: role, Time: time.Now(), Provenance: string(dm),
				Artifacts: []artifact.Artifact{artifact.Text{Content: "text"}},
			}}
		}
		expect := func(conduit string, want time.Duration) {
			t.Helper()
			if got, err := a.delivery(t.Context(), conduit); got != want || err != nil {
				t.Errorf("%s: got %v, %v, want %v", conduit, got, err, want)
			}
		}
		expect("slack", 0)
		question := record(1, ledger.RoleUser)
		time.Sleep(time.Minute) // the model thinks, which is no delay of the delivery
		put(t, store, session.Batch{
			Thread: thread, Log: []session.LogRecord{question, record(2, ledger.RoleAssistant)},
			State:    &session.Thread{Last: 2, Tip: 2, Opened: time.Now(), Used: time.Now()},
			Bindings: []session.BindingWrite{{Address: dm, Binding: session.Binding{Thread: thread, From: 1}}},
			Due:      []session.DueWrite{{Address: dm, Seq: 2}},
		})
		time.Sleep(time.Second)
		expect("slack", time.Second)
		expect("telegram", 0)
		put(t, store, session.Batch{
			Cursors: []session.CursorWrite{{Address: dm, Cursor: session.Cursor{Seq: 3}}},
			Due:     []session.DueWrite{{Address: dm, Seq: 2, Drop: true}},
		})
		expect("slack", 0)
	})
}
