package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// batchLaws are about what a Batch may be.
func batchLaws() []law {
	return []law{
		{"a batch is applied whole", wholeBatch},
		{"a malformed batch is refused", malformed},
		{"a batch at its limits is applied, one beyond is refused", limits},
		{"a context that ends doesn't stop a batch", cancelled},
		{"nothing is put after close", closed},
	}
}

func wholeBatch(f *fixture) {
	id, e := threadNo(1), message(home, "1", "1")
	r := f.must(accept(e))
	b := exchange(id, 0, e, r.Rev, session.Revision{})
	b.Bindings = []session.BindingWrite{{Address: home, Binding: session.Binding{Thread: id, From: 1}}}
	b.Presences = []session.PresenceWrite{{Address: home, Presence: &session.Presence{Kind: "status", Message: "m"}}}
	b.Index = []session.IndexWrite{{Address: home, Message: "m1", Ref: session.MessageRef{Thread: id, Seq: 1}}}
	b.Small = []session.SmallWrite{{Space: "codes", Key: "K", Value: []byte("v")}}
	bad := b
	bad.ID, bad.Small = session.NewBatchID(), []session.SmallWrite{{Space: "codes", Key: "K", Rev: b.ID, Value: []byte("v")}}
	if c := f.conflict(bad); !strings.HasPrefix(c.What, "small") || c.Applied || c.OnlyOptional {
		f.Errorf("conflict %+v", c)
	}
	f.exchanged(id, e, false)
	if r := f.must(b); r.Last != 1 {
		f.Errorf("last is %d, want 1", r.Last)
	}
	f.reopen()
	f.exchanged(id, e, true)
}

// exchanged tells whether everything that wholeBatch's Batch writes is there, or nothing.
func (f *fixture) exchanged(id ledger.ThreadID, e session.Entry, want bool) {
	f.Helper()
	ctx := f.Context()
	got, _, err := f.Store.Entry(ctx, e.ID)
	f.ok(err)
	st, err := f.Store.Address(ctx, home)
	f.ok(err)
	_, _, thread, err := f.Store.Thread(ctx, id)
	f.ok(err)
	log, err := f.Store.Log(ctx, id, 1, 10)
	f.ok(err)
	_, shown, err := f.Store.Message(ctx, home, "m1")
	f.ok(err)
	_, _, code, err := f.Store.Small(ctx, "codes", "K")
	f.ok(err)
	parts := map[string]bool{
		"entry": got.State == session.EntryEnded, "binding": st.Binding.Thread == id, "cursor": st.Cursor.Seq == 1,
		"presence": st.Presence.Kind == "status", "due": st.Due == 1, "thread": thread, "log": len(log) == 1,
		"message": shown, "small": code,
	}
	for name, have := range parts {
		if have != want {
			f.Errorf("%s is there: %v, want %v", name, have, want)
		}
	}
}

func malformed(f *fixture) {
	id := threadNo(1)
	with := func(change func(b *session.Batch)) session.Batch {
		b := appending(id, 0, 2)
		change(&b)
		return b
	}
	twice := []session.CursorWrite{{Address: home}, {Address: home}}
	cases := map[string]session.Batch{
		"no id":                with(func(b *session.Batch) { b.ID = session.BatchID{} }),
		"no state":             with(func(b *session.Batch) { b.State = nil }),
		"no thread":            with(func(b *session.Batch) { b.Thread = ledger.ThreadID{} }),
		"a gap":                with(func(b *session.Batch) { b.Log[1].Seq = 3 }),
		"not behind after":     with(func(b *session.Batch) { b.After = 1 }),
		"another last":         with(func(b *session.Batch) { b.State.Last = 3 }),
		"a state that is off":  {ID: session.NewBatchID(), Thread: id, State: &session.Thread{Last: 1}},
		"a kind without field": with(func(b *session.Batch) { b.Log[0] = session.LogRecord{Seq: 1, Kind: session.KindEnd} }),
		"no kind":              with(func(b *session.Batch) { b.Log[0] = session.LogRecord{Seq: 1, Raw: []byte("{}")} }),
		"another turn":         with(func(b *session.Batch) { b.Log[0] = turn(threadNo(2), 1, "x"); b.Log[0].Seq = 1 }),
		"a cursor twice":       with(func(b *session.Batch) { b.Cursors = twice }),
		"an entry twice": with(func(b *session.Batch) {
			b.Entries = append(accept(message(home, "1", "1")).Entries, accept(message(home, "1", "2")).Entries...)
		}),
		"no address":        with(func(b *session.Batch) { b.Bindings = []session.BindingWrite{{Address: "nowhere"}} }),
		"a NUL in a key":    accept(message(home, "1\x002", "1")),
		"a NUL in an order": accept(message(home, "1", "1\x00")),
		"an empty key":      accept(message(home, "", "1")),
		"no precondition":   {ID: session.NewBatchID(), Due: []session.DueWrite{{Address: home, Seq: 1}}},
		"nothing":           {ID: session.NewBatchID()},
	}
	for name, b := range cases {
		f.Log(name)
		f.refused(b)
	}
	_, _, ok, err := f.Store.Thread(f.Context(), id)
	f.ok(err)
	if ok {
		f.Error("a refused batch left a thread")
	}
}

func limits(f *fixture) {
	const room = 1 << 10 // for the front of a value
	big := bytes.Repeat([]byte{'x'}, session.MaxValueBytes-room)
	r := f.must(small("big", "k", session.Revision{}, big))
	got, rev, ok, err := f.Store.Small(f.Context(), "big", "k")
	f.ok(err)
	if !ok || rev != r.Rev || !bytes.Equal(got, big) {
		f.Errorf("a big value came back with %d bytes", len(got))
	}
	f.refused(small("big", "l", session.Revision{}, make([]byte, session.MaxValueBytes+1)))

	many := session.Batch{ID: session.NewBatchID()}
	for i := range session.MaxBatchWrites {
		many.Small = append(many.Small, session.SmallWrite{Space: "many", Key: fmt.Sprint(i), Value: []byte("v")})
	}
	f.must(many)
	more := many
	more.ID = session.NewBatchID()
	more.Small = append(more.Small[:len(more.Small):len(more.Small)], session.SmallWrite{Space: "more", Key: "k", Value: []byte("v")})
	f.refused(more)

	heavy := session.Batch{ID: session.NewBatchID()}
	for i := range session.MaxBatchBytes/session.MaxValueBytes + 1 {
		heavy.Small = append(heavy.Small, session.SmallWrite{Space: "heavy", Key: fmt.Sprint(i), Value: big})
	}
	f.refused(heavy)
}

func cancelled(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	ch := make(chan error, 2)
	e := message(home, "1", "1")
	f.Store.Commit(ctx, accept(e), func(_ session.Result, err error) { ch <- err })
	cancel()
	if err := <-ch; err != nil {
		f.Fatalf("commit: %v", err)
	}
	_, ok, err := f.Store.Entry(f.Context(), e.ID)
	f.ok(err)
	if !ok {
		f.Error("the entry isn't there")
	}
}

func closed(f *fixture) {
	before := f.pending(accept(message(home, "1", "1")))
	if err := f.Store.Close(); err != nil {
		f.Fatal(err)
	}
	err := <-before
	after := <-f.pending(accept(message(home, "2", "2")))
	if after == nil {
		f.Error("a batch was taken after close")
	}
	f.Store = f.open(f.T)
	if !f.durable {
		return
	}
	_, first, rerr := f.Store.Entry(f.Context(), message(home, "1", "").ID)
	f.ok(rerr)
	_, second, rerr := f.Store.Entry(f.Context(), message(home, "2", "").ID)
	f.ok(rerr)
	if first != (err == nil) || second {
		f.Errorf("after %v the entries are there: %v, %v", err, first, second)
	}
}
