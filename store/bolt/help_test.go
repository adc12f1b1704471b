package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
)

const home = session.Address("slack:T1/D1")

func noon() time.Time { return time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC) }

// opened opens a store that is checked and closed at the end of the test.
func opened(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Check(t.Context()); err != nil && !errors.Is(err, session.ErrClosed) && !t.Failed() && t.Context().Err() == nil {
			t.Errorf("check: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// fresh opens an empty store.
func fresh(t testing.TB) *Store {
	t.Helper()
	return opened(t, filepath.Join(t.TempDir(), "orebot.db"), Options{})
}

func entry(key string, state session.EntryState, end session.End) session.Entry {
	in := session.Inbound{Key: key, Address: home, Order: key, Text: "hello", At: noon(), Author: session.Author{ID: "slack:U1"}}
	return session.Entry{ID: in.ID(), Inbound: in, State: state, End: end}
}

func accept(key string) session.Batch {
	return putting(entry(key, session.EntryOpen, session.EndNone), session.Revision{})
}

func putting(e session.Entry, rev session.Revision) session.Batch {
	return session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: e, Rev: rev}}}
}

// turns is the Batch that adds n turns behind after.
func turns(id ledger.ThreadID, after ledger.Seq, n int, text string) session.Batch {
	b := session.Batch{ID: session.NewBatchID(), Thread: id, After: after}
	for i := range n {
		seq := after + ledger.Seq(i) + 1
		b.Log = append(b.Log, session.LogRecord{Seq: seq, Kind: session.KindTurn, Turn: &ledger.Turn{
			ID: ledger.TurnID{Thread: id, Seq: seq}, Parent: seq - 1, Role: ledger.RoleAssistant, Time: noon(),
			Artifacts: []artifact.Artifact{artifact.Text{Content: text}},
		}})
	}
	b.State = &session.Thread{Last: after + ledger.Seq(n), Tip: after + ledger.Seq(n), Opened: noon(), Used: noon()}
	return b
}

func threadNo(n int) ledger.ThreadID {
	return session.ThreadOf(session.EntryID{Address: home, Key: fmt.Sprint(n)})
}

func must(t testing.TB, s *Store, b session.Batch) {
	t.Helper()
	if _, err := session.CommitWait(t.Context(), s, b); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// rawly changes the bucket behind the store's back.
func rawly(t testing.TB, s *Store, f func(b *bolt.Bucket) error) {
	t.Helper()
	if err := s.db.Update(func(tx *bolt.Tx) error { return f(tx.Bucket(bucketName)) }); err != nil {
		t.Fatal(err)
	}
	s.durable.Add(1)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
