package storetest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// recordLaws are about the records of an address and the small values.
func recordLaws() []law {
	return []law{
		{"an address's records come back", address},
		{"a presence is dropped", presence},
		{"due keeps the higher, and is dropped up to a record", dueSemantic},
		{"due addresses are listed by conduit", dueList},
		{"a later note for a message wins", index},
		{"a value grows and shrinks", resize},
		{"what is returned is a copy", copies},
		{"a read ends with its context", readCancelled},
	}
}

func (f *fixture) address(a session.Address) session.AddressState {
	f.Helper()
	st, err := f.Store.Address(f.Context(), a)
	f.ok(err)
	return st
}

func address(f *fixture) {
	if st := f.address(home); !reflect.DeepEqual(st, session.AddressState{}) {
		f.Errorf("an unknown address is %+v", st)
	}
	b := appending(threadNo(1), 0, 3)
	bind := session.Binding{Thread: threadNo(1), From: 1, Until: 9, MovedTo: other, Gone: true}
	cur := session.Cursor{Seq: 3, Offset: 7, Layout: 2, Posted: []string{"a", "b"}, Unknown: 1,
		Attempt: &session.Attempt{N: 2, Since: noon(), Life: "l"}}
	pres := session.Presence{Kind: "reaction", Message: "1.2"}
	b.Bindings = []session.BindingWrite{{Address: home, Binding: bind}}
	b.Cursors = []session.CursorWrite{{Address: home, Cursor: cur}}
	b.Presences = []session.PresenceWrite{{Address: home, Presence: &pres}}
	b.Due = []session.DueWrite{{Address: home, Seq: 3}}
	f.must(b)
	f.reopen()
	want := session.AddressState{Binding: bind, BindingRev: b.ID, Cursor: cur, CursorRev: b.ID, Presence: pres, PresenceRev: b.ID, Due: 3}
	if st := f.address(home); !reflect.DeepEqual(st, want) {
		f.Errorf("address\n got %+v\nwant %+v", st, want)
	}
	if st := f.address(home + "/1"); !reflect.DeepEqual(st, session.AddressState{}) {
		f.Errorf("a longer address is %+v", st)
	}
	next := session.Batch{ID: session.NewBatchID(), Cursors: []session.CursorWrite{{Address: home, Rev: b.ID, Cursor: session.Cursor{Seq: 4}}}}
	f.must(next)
	if st := f.address(home); st.CursorRev != next.ID || st.BindingRev != b.ID || st.Cursor.Attempt != nil {
		f.Errorf("after the cursor moved: %+v", st)
	}
}

func presence(f *fixture) {
	put := func(rev session.Revision, p *session.Presence) session.Batch {
		return session.Batch{ID: session.NewBatchID(), Presences: []session.PresenceWrite{{Address: home, Rev: rev, Presence: p}}}
	}
	r := f.must(put(session.Revision{}, &session.Presence{Kind: "status", Message: "m"}))
	f.conflict(put(session.Revision{}, nil))
	f.must(put(r.Rev, nil))
	if st := f.address(home); st.PresenceRev != (session.Revision{}) || st.Presence != (session.Presence{}) {
		f.Errorf("a dropped presence is %+v", st.Presence)
	}
	f.must(put(session.Revision{}, nil)) // absent, as its revision says
	f.must(put(session.Revision{}, &session.Presence{Kind: "status"}))
}

// due writes a due note; the small value is its Batch's precondition.
func (f *fixture) due(w session.DueWrite) {
	f.Helper()
	b := small("due", session.NewBatchID().String(), session.Revision{}, []byte("x"))
	b.Due = []session.DueWrite{w}
	f.must(b)
}

func dueSemantic(f *fixture) {
	f.must(appending(threadNo(1), 0, 10))
	for i, step := range []struct {
		write session.DueWrite
		want  ledger.Seq
	}{
		{session.DueWrite{Seq: 5}, 5},
		{session.DueWrite{Seq: 3}, 5},
		{session.DueWrite{Seq: 4, Drop: true}, 5},
		{session.DueWrite{Seq: 7}, 7},
		{session.DueWrite{Seq: 5, Drop: true}, 7},
		{session.DueWrite{Seq: 7, Drop: true}, 0},
		{session.DueWrite{Seq: 7, Drop: true}, 0},
		{session.DueWrite{Seq: 2}, 2},
		{session.DueWrite{Seq: 1, Anew: true}, 1},
		{session.DueWrite{Seq: 2, Anew: true}, 2},
		{session.DueWrite{Seq: 9, Drop: true}, 0},
	} {
		step.write.Address = home
		f.due(step.write)
		if got := f.address(home).Due; got != step.want {
			f.Fatalf("step %d: due is %d, want %d", i, got, step.want)
		}
	}
}

func dueList(f *fixture) {
	var want []session.Address
	for i := range 30 {
		a := session.Address(fmt.Sprintf("slack:T1/C%02d", i))
		want = append(want, a)
		f.due(session.DueWrite{Address: a, Seq: 1})
	}
	f.due(session.DueWrite{Address: "slack2:T1/C1", Seq: 1})
	f.due(session.DueWrite{Address: "telegram:1", Seq: 1})
	var got []session.Address
	for after := session.Address(""); ; {
		page, err := f.Store.Due(f.Context(), "slack", after, 7)
		f.ok(err)
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = page[len(page)-1]
	}
	if !reflect.DeepEqual(got, want) {
		f.Errorf("due\n got %v\nwant %v", got, want)
	}
}

func index(f *fixture) {
	note := func(message string, ref session.MessageRef) {
		b := small("index", session.NewBatchID().String(), session.Revision{}, []byte("x"))
		b.Index = []session.IndexWrite{{Address: home, Message: message, Ref: ref}}
		f.must(b)
	}
	one := session.MessageRef{Thread: threadNo(1), Seq: 1}
	two := session.MessageRef{Thread: threadNo(2), Seq: 9, Offset: 4096}
	note("m1", one)
	note("m1", two)
	note("m2", one)
	for message, want := range map[string]session.MessageRef{"m1": two, "m2": one} {
		ref, ok, err := f.Store.Message(f.Context(), home, message)
		f.ok(err)
		if !ok || ref != want {
			f.Errorf("%s shows %+v, want %+v", message, ref, want)
		}
	}
	for _, a := range []session.Address{home + "/m1", other} {
		_, ok, err := f.Store.Message(f.Context(), a, "m1")
		f.ok(err)
		if ok {
			f.Errorf("%s knows the message of another address", a)
		}
	}
}

func resize(f *fixture) {
	var rev session.Revision
	for i, n := range []int{10, 5000, 400_000, 4096, 4097, 0, 12_000, 10} {
		want := bytes.Repeat([]byte{byte('a' + i)}, n)
		rev = f.must(small("resize", "k", rev, want)).Rev
		got, _, ok, err := f.Store.Small(f.Context(), "resize", "k")
		f.ok(err)
		if !ok || !bytes.Equal(got, want) {
			f.Fatalf("%d bytes came back as %d", n, len(got))
		}
	}
	f.must(small("resize", "k", rev, nil))
}

func copies(f *fixture) {
	id := threadNo(1)
	value := []byte("value")
	b := appending(id, 0, 1)
	b.Log[0] = session.LogRecord{Seq: 1, Kind: 'Z', Raw: []byte(`{"a":1}`)}
	b.Small = []session.SmallWrite{{Space: "s", Key: "k", Value: value}}
	f.must(b)
	for range 2 {
		v, _, _, err := f.Store.Small(f.Context(), "s", "k")
		f.ok(err)
		log, err := f.Store.Log(f.Context(), id, 1, 1)
		f.ok(err)
		if string(v) != "value" || string(log[0].Raw) != `{"a":1}` {
			f.Fatalf("read %q and %q", v, log[0].Raw)
		}
		copy(v, "XXXXX")
		copy(log[0].Raw, strings.Repeat("X", 7))
	}
}

func readCancelled(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	if _, _, err := f.Store.Entry(ctx, message(home, "1", "1").ID); err == nil {
		f.Error("a read with an ended context succeeded")
	}
}
