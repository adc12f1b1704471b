package conduit_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
)

// TestGone ends an address: entries become undeliverable, the others go on. Report 38.
func TestGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA, placeB))
		ask := func(a session.Address, key string) session.EntryID {
			id, err := b.w.Ask(a, key)
			b.must(err)
			return id
		}
		early, lateA, lateB, noticed := ask(placeA, "1"), ask(placeA, "2"), ask(placeB, "2"), ask(placeA, "3")
		withdrawn := ask(placeA, "4")
		b.end(withdrawn, session.EndWithdrawn)
		b.must(b.w.Answer("first", early))
		l := b.start("one")
		synctest.Wait()
		b.p.Next(placeA, refuse(conduit.Gone))
		b.must(b.w.Answer("second", lateA, lateB))
		b.must(b.w.Notice(placeA, "third", noticed, withdrawn))
		l.c.Nudge(placeA)
		l.c.Nudge(placeB)
		time.Sleep(time.Minute)
		b.must(b.w.Answer("fourth"))
		l.c.Nudge(placeA)
		l.c.Nudge(placeB)
		l.rest(time.Minute)
		b.wantTexts(placeA, "first")
		b.wantTexts(placeB, "first", "second", "fourth")
		for id, want := range map[session.EntryID]session.End{
			early: session.EndAnswered, lateA: session.EndUndeliverable, lateB: session.EndAnswered, noticed: session.EndUndeliverable,
			withdrawn: session.EndWithdrawn,
		} {
			if e, _, err := b.store.Entry(t.Context(), id); err != nil || e.End != want {
				t.Errorf("%s ended %s, want %s (%v)", id, e.End, want, err)
			}
		}
		if st := b.address(placeA); !st.Binding.Gone || st.Due != 0 || st.Cursor.Seq != b.w.Last()+1 {
			t.Errorf("the dead address: %+v", st)
		}
		if n := strings.Count(b.log.String(), "address is gone"); n != 1 {
			t.Errorf("the operator is told %d times", n)
		}
	})
}

// end gives an entry another end.
func (b *bench) end(id session.EntryID, end session.End) {
	b.t.Helper()
	e, _, err := b.store.Entry(b.t.Context(), id)
	b.must(err)
	e.End = end
	batch := session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Rev: e.Rev, Entry: e.Entry}}}
	_, err = session.CommitWait(b.t.Context(), b.store, batch)
	b.must(err)
}

// TestGoneWithATornDraft ends an address although the draft that a record promotes can't be read.
func TestGoneWithATornDraft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("first"))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleAssistant, Draft: true, Artifacts: text("draft")}))
		b.must(b.w.Promote(2))
		id, err := b.w.Ask(placeA, "1")
		b.must(err)
		b.must(b.w.Answer("last", id))
		b.cfg.Store = torn{b.store, 2}
		b.p.Chance = func(session.Address) conduittest.Trouble { return refuse(conduit.Gone) }
		b.start("one").rest(time.Hour)
		if e, _, err := b.store.Entry(t.Context(), id); err != nil || e.End != session.EndUndeliverable {
			t.Errorf("ended %s, %v", e.End, err)
		}
	})
}

// TestGoneWithMany ends more messages than one Batch holds.
func TestGoneWithMany(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		var ids []session.EntryID
		for i := range 600 {
			id, err := b.w.Ask(placeA, string(rune('A'+i/26))+string(rune('A'+i%26)))
			b.must(err)
			ids = append(ids, id)
		}
		b.must(b.w.Answer("all", ids...))
		b.p.Next(placeA, refuse(conduit.Gone))
		b.start("one").rest(time.Minute)
		totals, err := b.store.Totals(t.Context())
		b.must(err)
		if totals.Ended[session.EndUndeliverable] != 600 {
			t.Errorf("ends: %v", totals.Ended)
		}
		b.wantServed(placeA)
	})
}

// TestMoved posts where the platform says, without the old place's message ids, and remembers it.
func TestMoved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		id, err := b.w.Ask(placeA, "1")
		b.must(err)
		b.must(b.w.Answer("0123456789abc", id))
		b.p.Next(placeA, conduittest.Trouble{Err: &conduit.Error{Class: conduit.Moved, To: placeB}})
		b.start("one").rest(time.Minute)
		b.must(b.w.Answer("more"))
		b.must(b.w.Notice(placeA, "to old"))
		b.must(b.w.Notice(placeB, "to new"))
		b.must(b.w.User(placeB, "mem:U1", "echo"))
		b.must(b.w.User(placeC, "U2", "hi"))
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA)
		b.wantTexts(placeB, "0123456789", "abc", "more", "to old", "to new", "U2: hi")
		if st := b.address(placeA); st.Binding.MovedTo != placeB {
			t.Errorf("the binding is %+v", st.Binding)
		}
		if got := b.p.At(placeB)[0].Item.ReplyTo; got != "" {
			t.Errorf("reply to %q of the old place", got)
		}
		b.wantServed(placeA)
	})
}
