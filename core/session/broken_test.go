package session_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// An entry that can't be read holds up nobody but itself.
func TestACorruptEntryHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		bad, good := msg(dm, "slack:U1", "bad"), msg(dm, "slack:U2", "good")
		o := &odd{Memory: mem, entry: func(id session.EntryID) error {
			if id == bad.ID() {
				return &session.CorruptError{Err: errors.New("bad")}
			}
			return nil
		}}
		b := start(t, mem, echo(0), on(o))
		b.accept(bad)
		b.accept(good)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(good, session.EndAnswered)
		b.stopLife()
	})
}

// broken is a store whose logs can't be decoded.
type broken struct{ *storetest.Memory }

func (broken) Log(_ context.Context, id ledger.ThreadID, from ledger.Seq, _ int) ([]session.LogRecord, error) {
	return nil, &session.CorruptError{Thread: id, Seq: from, Err: errors.New("bad")}
}

func TestEntriesOfABrokenThreadGetALine(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Hour), func(c *session.Config) { c.ShutdownGrace = 0 })
		in, waiting := msg(dm, "slack:U1", "one"), msg(dm, "slack:U2", "two")
		b.accept(in)
		b.accept(waiting)
		time.Sleep(time.Second)
		b.stopLife()
		b = start(t, mem, echo(0), func(c *session.Config) { c.Store = broken{mem} })
		later := msg(dm, "slack:U1", "three")
		b.accept(later)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, in := range []session.Inbound{in, waiting, later} {
			b.ended(in, session.EndNoticed)
		}
		if n := len(b.events()); n != 3 {
			t.Errorf("events %q, want three lines", b.events())
		}
		b.stopLife()
	})
}

// Where not even a line can be written, a message still comes to its end, and the model isn't asked for ever.
func TestAThreadWhoseStateIsUnreadableEndsItsEntries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		o := &odd{Memory: mem, thread: func() error { return &session.CorruptError{Err: errors.New("bad")} }}
		p := echo(0)
		b := start(t, mem, p, on(o))
		one, two := msg(dm, "slack:U1", "one"), msg(dm, "slack:U2", "two")
		b.accept(one)
		b.accept(two)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(one, session.EndUndeliverable)
		b.ended(two, session.EndUndeliverable)
		if len(p.prompts()) != 0 {
			t.Errorf("%d prompts", len(p.prompts()))
		}
		b.stopLife()
	})
}

// An address bound elsewhere by somebody else is found to be so before the model is asked.
func TestABindingMadeByAnotherLifeHolds(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		b.accept(msg(dm, "slack:U1", "one"))
		synctest.Wait()
		const moved = session.Address("slack:T1/D2")
		st, _ := mem.Address(t.Context(), dm)
		thread := st.Binding.Thread
		b.accept(msg(moved, "slack:U2", "elsewhere"))
		synctest.Wait()
		st, _ = mem.Address(t.Context(), moved)
		_, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(), Bindings: []session.BindingWrite{
			{Address: moved, Rev: st.BindingRev, Binding: session.Binding{Thread: thread, From: 1}}}})
		if err != nil {
			t.Fatal(err)
		}
		b.stopLife()
		p := echo(0)
		b = start(t, mem, p)
		in := msg(moved, "slack:U2", "here")
		b.accept(in)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user here", "assistant re: here"})
		b.stopLife()
	})
}

func TestTheSameIdsInTheFeedAreOneTurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Minute), func(c *session.Config) { c.Store = stutter{mem} })
		in := []session.Inbound{msg(dm, "slack:U1", "one"), msg(dm, "slack:U2", "two")}
		for _, in := range in {
			b.accept(in)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant re: two"})
		b.stopLife()
	})
}

// stutter names every entry of the feed at once and again later.
type stutter struct{ *storetest.Memory }

func (s stutter) Watch(ctx context.Context, f func(session.EntryID)) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	return s.Memory.Watch(ctx, func(id session.EntryID) {
		f(id)
		f(id)
		wg.Go(func() {
			for _, d := range []time.Duration{time.Second, 59 * time.Second, time.Minute, 3 * time.Minute} {
				select {
				case <-time.After(d):
					f(id)
				case <-ctx.Done():
				}
			}
		})
	})
}
