package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

func TestTheOperatorDropsMessages(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Hour))
		running, waiting, kept := msg(dm, "slack:U1", "one"), msg(dm, "slack:U1", "two"), msg(dm, "slack:U1", "three")
		for _, in := range []session.Inbound{running, waiting, kept} {
			b.accept(in)
			synctest.Wait()
		}
		done := make(chan error, 1)
		go func() { done <- b.m.Drop(context.Background(), waiting.ID()) }() // it ends when its turn has come
		time.Sleep(time.Second)
		if err := b.m.Drop(t.Context(), running.ID()); err != nil {
			t.Errorf("drop: %v", err)
		}
		b.ended(running, session.EndWithdrawn)
		if err := <-done; err != nil {
			t.Errorf("drop of what waits: %v", err)
		}
		b.ended(waiting, session.EndWithdrawn)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		b.ended(kept, session.EndAnswered)
		equal(t, "events", b.events(), []string{
			"slack:T1/D1 user one", "slack:T1/D1 notice The operator withdrew this; please ask again if it still matters.",
			"slack:T1/D1 notice The operator withdrew this; please ask again if it still matters.",
			"slack:T1/D1 user three", "slack:T1/D1 assistant re: three"})
		wantDoorError(t, b.m.Drop(t.Context(), running.ID()), "doesn't wait any more")
		wantDoorError(t, b.m.Drop(t.Context(), session.EntryID{Address: dm, Key: "nothing"}), "doesn't wait any more")
		b.stopLife()
	})
}

// A line in place of a delivery that was dropped is nobody's message: it makes no second writer of a conversation.
func TestADroppedDeliveryLeavesALine(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const thread = session.Address("slack:T1/C1/1.0")
		b := start(t, mem, echo(0))
		asked := msg(thread, "slack:U1", "hi", func(in *session.Inbound) { in.Call, in.Place = session.CallMention, "slack:C1" })
		b.accept(asked)
		synctest.Wait()
		b.ended(asked, session.EndAnswered)
		if err := session.DropDelivery(t.Context(), mem, thread); err != nil { // no courier runs here: the answer is due
			t.Fatal(err)
		}
		synctest.Wait()
		b.ended(asked, session.EndUndeliverable)
		events := b.events()
		if last := events[len(events)-1]; last != "slack:T1/C1/1.0 notice An answer couldn't be delivered here. The operator withdrew this; please ask again if it still matters." {
			t.Errorf("told: %s", last)
		}
		st, err := mem.Address(t.Context(), thread)
		if err != nil || st.Due != 3 || st.Cursor.Seq != 3 {
			t.Errorf("the address: due %d, cursor %+v, %v", st.Due, st.Cursor, err)
		}
		b.stopLife()
		b = start(t, mem, echo(0)) // what Accept knows is read anew
		follow := msg(thread, "slack:U1", "and then?", func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" })
		if r := b.accept(follow); r.Heard || r.Ignored != "" {
			t.Errorf("a follow-up of the only writer: %+v", r)
		}
		b.stopLife()
	})
}

// An answer that was a draft first ended its message too: the cursor stands behind the draft, where its promotion is due.
func TestADroppedDeliveryOfAPromotedDraft(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) {
			c.Pattern = cognitive.Verify{Check: func(context.Context, ledger.Turn) (string, error) { return "", nil }}
		})
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi", "f"})
		if err := session.DropDelivery(t.Context(), mem, dm); err != nil { // no courier runs here
			t.Fatal(err)
		}
		synctest.Wait()
		b.ended(in, session.EndUndeliverable)
		b.stopLife()
	})
}

// What is dropped of an address that has gone on in another conversation is of both.
func TestADroppedDeliveryOfTwoConversations(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem))
		in := b.tell("one", "two", "three", "/new", "four") // no courier runs here
		if err := session.DropDelivery(t.Context(), mem, dm); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, m := range in {
			b.ended(m, session.EndUndeliverable)
		}
		st := at(t, mem, dm)
		th, _, _, err := mem.Thread(t.Context(), st.Binding.Thread)
		if err != nil || st.Cursor.Leg != st.Binding.Leg || st.Cursor.Seq != th.Last {
			t.Errorf("the cursor is %+v of leg %d, the log ends with the line %d, %v", st.Cursor, st.Binding.Leg, th.Last, err)
		}
		b.stopLife()
	})
}
