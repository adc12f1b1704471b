package storetest

import (
	"fmt"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
)

const (
	home  = session.Address("slack:T1/D1")
	other = session.Address("telegram:8246/17")
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC) }

func threadNo(n int) ledger.ThreadID {
	return session.ThreadOf(session.EntryID{Address: home, Key: fmt.Sprintf("opener-%d", n)})
}

// message is an open entry.
func message(a session.Address, key, order string) session.Entry {
	in := session.Inbound{
		Key: key, Address: a, Order: order, Text: "text of " + key, At: noon(),
		Author: session.Author{ID: "slack:U1", Name: "Ann"}, Call: session.CallDirect, Message: key,
	}
	return session.Entry{ID: in.ID(), Inbound: in}
}

// accept is the Batch that makes a new entry durable.
func accept(e session.Entry) session.Batch {
	return session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: e}}}
}

// change is the Batch that replaces an entry that has the given revision.
func change(e session.Entry, rev session.Revision) session.Batch {
	return session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: e, Rev: rev}}}
}

func ended(e session.Entry, end session.End) session.Entry {
	e.State, e.End = session.EntryEnded, end
	return e
}

// turn is a log record with a stamped turn of some text.
func turn(id ledger.ThreadID, seq ledger.Seq, text string) session.LogRecord {
	return session.LogRecord{Seq: seq, Kind: session.KindTurn, Turn: &ledger.Turn{
		ID: ledger.TurnID{Thread: id, Seq: seq}, Parent: seq - 1, Role: ledger.RoleUser, Time: noon(),
		Artifacts: []artifact.Artifact{artifact.Text{Content: text}}, Provenance: string(home),
	}}
}

// appending is the Batch that adds n turns behind after.
func appending(id ledger.ThreadID, after ledger.Seq, n int) session.Batch {
	b := session.Batch{ID: session.NewBatchID(), Thread: id, After: after}
	for i := range n {
		seq := after + ledger.Seq(i) + 1
		b.Log = append(b.Log, turn(id, seq, fmt.Sprintf("turn %d", seq)))
	}
	b.State = &session.Thread{Last: after + ledger.Seq(n), Tip: after + ledger.Seq(n), Opened: noon(), Used: noon()}
	return b
}

func small(space, key string, rev session.Revision, v []byte) session.Batch {
	return session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: space, Key: key, Rev: rev, Value: v}}}
}

// exchange is the Batch of a final turn: the thread's log, its closings, the address that is behind and the first intent.
func exchange(id ledger.ThreadID, after ledger.Seq, e session.Entry, rev, cursor session.Revision) session.Batch {
	b := appending(id, after, 1)
	e = ended(e, session.EndAnswered)
	e.Thread, e.EndSeq = id, after+1
	b.Entries = []session.EntryWrite{{Entry: e, Rev: rev, Expires: noon().Add(48 * time.Hour)}}
	b.Due = []session.DueWrite{{Address: e.ID.Address, Seq: after + 1}}
	b.Cursors = []session.CursorWrite{{
		Address: e.ID.Address, Rev: cursor, Optional: true,
		Cursor: session.Cursor{Seq: after + 1, Attempt: &session.Attempt{N: 1, Since: noon(), Life: "life"}},
	}}
	return b
}
