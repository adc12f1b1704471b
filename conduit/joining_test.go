package conduit_test

import (
	"testing"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// An address that is to join another place's conversation is shown the rest of its own, and nothing of the other until it was taken in;
// then what there is from that record on. Kills in between change nothing.
func TestNothingIsShownBeforeAnAddressIsTakenIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		own := conduittest.NewWriter(b.store, 2)
		b.must(b.w.Bind(placeB))
		b.must(own.Bind(placeA))
		b.must(own.Answer("own"))
		b.must(b.w.Answer("secret"))
		next := session.Binding{Thread: b.w.Thread, Joining: true, Leg: 1, Own: &session.Own{Thread: own.Thread},
			Before: []session.Leg{{Thread: own.Thread, From: 1, Until: own.Last()}}}
		b.bind(placeA, next)
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, "own")
		b.must(b.w.Answer("secret 2"))
		b.start("two").rest(time.Hour)
		b.wantTexts(placeA, "own")
		next.Joining, next.From = false, b.w.Last()+1
		b.must(b.w.Notice(placeA, "linked"))
		batch := session.Batch{ID: session.NewBatchID(), Due: []session.DueWrite{{Address: placeA, Seq: b.w.Last()}}}
		batch.Bindings = []session.BindingWrite{{Address: placeA, Rev: b.address(placeA).BindingRev, Binding: next}}
		_, err := session.CommitWait(t.Context(), b.store, batch)
		b.must(err)
		b.start("three").rest(time.Hour)
		b.wantTexts(placeA, "own", "linked")
		b.wantServed(placeA)
	})
}
