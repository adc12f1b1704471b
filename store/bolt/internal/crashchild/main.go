// Command crashchild writes to a state database until it is killed or the store fails. It prints a line for each Batch that it
// was told is durable. It is the victim of the crash tests of package bolt.
//
//	crashchild FILE FIRST WRITERS BATCHES
//
// Each of the WRITERS has a thread and an address of its own and goes on where the file says that it stopped; FIRST is put in front
// of what it writes. It exits with 0 after BATCHES exchanges of each writer, and with 3 when the store failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/store/bolt"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) != 4 {
		return 2, errors.New("usage: crashchild FILE FIRST WRITERS BATCHES")
	}
	writers, err1 := strconv.Atoi(args[2])
	batches, err2 := strconv.Atoi(args[3])
	if err := errors.Join(err1, err2); err != nil {
		return 2, err
	}
	s, err := bolt.Open(args[0], bolt.Options{})
	if err != nil {
		return 1, err
	}
	fmt.Println("open")
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() { write(s, args[1], n, batches) })
	}
	wg.Wait()
	if err := s.Err(); err != nil {
		return 3, errors.Join(err, s.Close())
	}
	return 0, s.Close()
}

// write makes exchanges: an entry is accepted, then a turn ends it and moves a cursor. Each Batch prints what proves it.
func write(s *bolt.Store, round string, n, batches int) {
	ctx := context.Background()
	a := session.Address("slack:T1/C" + strconv.Itoa(n))
	id := session.ThreadOf(session.EntryID{Address: a, Key: "opener"})
	t, _, _, err := s.Thread(ctx, id)
	st, err2 := s.Address(ctx, a)
	if report(errors.Join(err, err2)) {
		return
	}
	last, cursor := t.Last, st.CursorRev
	for i := range batches {
		in := session.Inbound{Key: fmt.Sprintf("%s-%d", round, i), Address: a, Order: strconv.Itoa(i), Text: strings.Repeat("x", i*37%9000)}
		e := session.Entry{ID: in.ID(), Inbound: in}
		first := session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: e, Expires: time.Unix(1, 0)}}}
		if _, err := session.CommitWait(ctx, s, first); report(err) {
			return
		}
		fmt.Printf("entry %s\n", e.ID)
		b := exchange(id, last, e, first.ID, cursor)
		if _, err := session.CommitWait(ctx, s, b); report(err) {
			return
		}
		last, cursor = last+1, b.ID
		fmt.Printf("turn %s %d %s\n", id, last, e.ID)
	}
}

// exchange is the Batch that ends an entry with a turn.
func exchange(id ledger.ThreadID, after ledger.Seq, e session.Entry, rev, cursor session.Revision) session.Batch {
	seq := after + 1
	e.State, e.End, e.Thread, e.EndSeq = session.EntryEnded, session.EndAnswered, id, seq
	turn := ledger.Turn{
		ID: ledger.TurnID{Thread: id, Seq: seq}, Parent: after, Role: ledger.RoleAssistant, Entries: []string{e.ID.String()},
		Artifacts: []artifact.Artifact{artifact.Text{Content: e.Inbound.Text}},
	}
	return session.Batch{
		ID: session.NewBatchID(), Thread: id, After: after,
		Log:     []session.LogRecord{{Seq: seq, Kind: session.KindTurn, Turn: &turn}},
		State:   &session.Thread{Last: seq, Tip: seq},
		Entries: []session.EntryWrite{{Rev: rev, Entry: e}},
		Cursors: []session.CursorWrite{{Address: e.ID.Address, Rev: cursor, Cursor: session.Cursor{Seq: seq}}},
		Due:     []session.DueWrite{{Address: e.ID.Address, Seq: seq}},
	}
}

// report prints how a commit that isn't durable ended.
func report(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, session.ErrUnknown):
		fmt.Println("unknown")
	case errors.Is(err, session.ErrClosed):
		fmt.Println("closed")
	default:
		fmt.Println("other", err)
	}
	return true
}
