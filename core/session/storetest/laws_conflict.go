package storetest

import (
	"strings"

	"orebot/core/session"
)

// conflictLaws are about preconditions.
func conflictLaws() []law {
	return []law{
		{"an entry is put once", duplicate},
		{"a failed precondition names its record and costs only its batch", names},
		{"a revision can be named before it is durable", ahead},
		{"batches behind a failed one fail too", behind},
		{"a batch that was applied is recognised", applied},
		{"only an optional cursor stood in the way", optional},
		{"a small value is compared and set", compareAndSet},
		{"the log's precondition is its last record", logCondition},
	}
}

func duplicate(f *fixture) {
	e := message(home, "1", "1")
	first := f.must(accept(e))
	again := message(home, "1", "1")
	again.Inbound.Text = "changed on the way"
	if c := f.conflict(accept(again)); c.Applied || c.OnlyOptional {
		f.Errorf("conflict %+v", c)
	}
	got, _, err := f.Store.Entry(f.Context(), e.ID)
	f.ok(err)
	if got.Rev != first.Rev || got.Inbound.Text != e.Inbound.Text {
		f.Errorf("the entry is %+v", got)
	}
}

func names(f *fixture) {
	absent := session.NewBatchID()
	one := func(b session.Batch) session.Batch { b.ID = session.NewBatchID(); return b }
	cases := map[string]session.Batch{
		"log":      appending(threadNo(1), 3, 1),
		"entry":    change(message(home, "1", "1"), absent),
		"binding":  one(session.Batch{Bindings: []session.BindingWrite{{Address: home, Rev: absent}}}),
		"cursor":   one(session.Batch{Cursors: []session.CursorWrite{{Address: home, Rev: absent}}}),
		"presence": one(session.Batch{Presences: []session.PresenceWrite{{Address: home, Rev: absent}}}),
		"small":    small("s", "k", absent, nil),
	}
	for what, b := range cases {
		good := f.pending(accept(message(other, what, "1")))
		bad := f.pending(b)
		good2 := f.pending(accept(message(other, what+"-2", "1")))
		c, ok := (<-bad).(*session.Conflict)
		if !ok || !strings.HasPrefix(c.What, what) {
			f.Errorf("%s: conflict %+v", what, c)
		}
		if err, err2 := <-good, <-good2; err != nil || err2 != nil {
			f.Errorf("%s: its neighbours: %v, %v", what, err, err2)
		}
	}
}

func ahead(f *fixture) {
	e := message(home, "1", "1")
	a := accept(e)
	e.State = session.EntrySubmitted
	b := change(e, a.ID)
	c := change(ended(e, session.EndAnswered), b.ID)
	outcomes := []<-chan error{f.pending(a), f.pending(b), f.pending(c)}
	for i, ch := range outcomes {
		if err := <-ch; err != nil {
			f.Errorf("batch %d: %v", i, err)
		}
	}
	got, _, err := f.Store.Entry(f.Context(), e.ID)
	f.ok(err)
	if got.Rev != c.ID || got.End != session.EndAnswered {
		f.Errorf("the entry is %+v", got)
	}
}

func behind(f *fixture) {
	id := threadNo(1)
	f.must(appending(id, 0, 1))
	first := f.pending(appending(id, 2, 1)) // wrong
	second := f.pending(appending(id, 3, 1))
	third := f.pending(appending(id, 1, 1)) // right
	for i, ch := range []<-chan error{first, second} {
		if _, ok := (<-ch).(*session.Conflict); !ok {
			f.Errorf("batch %d wasn't refused", i)
		}
	}
	if err := <-third; err != nil {
		f.Errorf("the batch that was right: %v", err)
	}
}

func applied(f *fixture) {
	id, e := threadNo(1), message(home, "1", "1")
	batches := map[string]session.Batch{
		"entry":  accept(e),
		"log":    appending(id, 0, 1),
		"cursor": {ID: session.NewBatchID(), Cursors: []session.CursorWrite{{Address: home, Optional: true}}},
		"small":  small("s", "k", session.Revision{}, []byte("v")),
	}
	for what, b := range batches {
		f.must(b)
		if c := f.conflict(b); !c.Applied || c.OnlyOptional {
			f.Errorf("%s: conflict %+v, want applied", what, c)
		}
		other := b
		other.ID = session.NewBatchID()
		if c := f.conflict(other); c.Applied {
			f.Errorf("%s: another batch counts as applied", what)
		}
	}
	f.reopen()
	for what, b := range batches {
		if c := f.conflict(b); !c.Applied {
			f.Errorf("%s: after reopening: conflict %+v, want applied", what, c)
		}
	}
}

func optional(f *fixture) {
	id, e := threadNo(1), message(home, "1", "1")
	r := f.must(accept(e))
	f.must(session.Batch{ID: session.NewBatchID(), Cursors: []session.CursorWrite{{Address: home, Cursor: session.Cursor{Seq: 1}}}})
	b := exchange(id, 0, e, r.Rev, session.Revision{})
	if c := f.conflict(b); !c.OnlyOptional || c.Applied || !strings.HasPrefix(c.What, "cursor") {
		f.Errorf("conflict %+v, want only the optional cursor", c)
	}
	worse := exchange(id, 7, e, r.Rev, session.Revision{})
	if c := f.conflict(worse); c.OnlyOptional || c.What != "log" {
		f.Errorf("conflict %+v, want the log", c)
	}
	b.ID, b.Cursors = session.NewBatchID(), nil
	f.must(b)
}

func compareAndSet(f *fixture) {
	r1 := f.must(small("codes", "A", session.Revision{}, []byte("one")))
	f.conflict(small("codes", "A", session.Revision{}, []byte("two")))
	r2 := f.must(small("codes", "A", r1.Rev, []byte{}))
	v, rev, ok, err := f.Store.Small(f.Context(), "codes", "A")
	f.ok(err)
	if !ok || rev != r2.Rev || len(v) != 0 {
		f.Errorf("an empty value: %q, %v", v, ok)
	}
	f.conflict(small("codes", "A", r1.Rev, nil))
	f.must(small("codes", "A", r2.Rev, nil))
	_, rev, ok, err = f.Store.Small(f.Context(), "codes", "A")
	f.ok(err)
	if ok || rev != (session.Revision{}) {
		f.Error("a dropped value is still there")
	}
	f.must(small("codes", "A", session.Revision{}, []byte("again")))
	if _, _, ok, _ = f.Store.Small(f.Context(), "code", "sA"); ok {
		f.Error("two spaces share a key")
	}
}

func logCondition(f *fixture) {
	id := threadNo(1)
	if c := f.conflict(appending(id, 1, 1)); c.What != "log" {
		f.Errorf("conflict %+v", c)
	}
	f.must(appending(id, 0, 3))
	f.conflict(appending(id, 0, 1))
	f.conflict(appending(id, 2, 1))
	f.must(appending(id, 3, 2))
	alone := session.Batch{ID: session.NewBatchID(), Thread: id, After: 5, State: &session.Thread{Last: 5, Tip: 2, Opened: noon()}}
	f.must(alone)
	t, rev, ok, err := f.Store.Thread(f.Context(), id)
	f.ok(err)
	if !ok || rev != alone.ID || t.Last != 5 || t.Tip != 2 {
		f.Errorf("the thread is %+v", t)
	}
	log, err := f.Store.Log(f.Context(), id, 1, 10)
	f.ok(err)
	if len(log) != 5 {
		f.Errorf("the log has %d records", len(log))
	}
}
