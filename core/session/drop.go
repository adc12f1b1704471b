package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// errDropped is the cause that ends the turn of a message that the operator drops.
var errDropped = errors.New("session: the operator drops it")

// dropText is what an address is told of what was dropped there.
const dropText = "The operator withdrew this; please ask again if it still matters."

// Drop ends a message that waits, or is being answered, as withdrawn, with a line in the chat, and those that are answered together
// with it. It returns once that is durable, or when ctx ends; the wish is forgotten when the process ends. Where the message doesn't
// wait any more, it returns a *DoorError.
func (m *Manager) Drop(ctx context.Context, id EntryID) error {
	e, ok, err := m.cfg.Store.Entry(ctx, id)
	if err != nil {
		return fmt.Errorf("session: drop %s: %w", id, err)
	}
	if !ok || !e.State.Waits() {
		return doorError("it doesn't wait any more")
	}
	m.setDropped(id, true)
	defer m.setDropped(id, false)
	m.wake(id)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; e.State.Waits() && err == nil; e, _, err = m.cfg.Store.Entry(ctx, id) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return doorError("it hasn't come to its end yet; see: orebot queue")
		}
	}
	if err != nil {
		return fmt.Errorf("session: drop %s: %w", id, err)
	}
	return nil
}

func (m *Manager) setDropped(id EntryID, on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !on {
		delete(m.dropped, id)
		return
	}
	m.dropped[id] = true
	for _, h := range m.turnsOf {
		if slices.Contains(h.ids, id) {
			h.cancel(errDropped)
		}
	}
}

// isDropped reports whether the operator drops one of these.
func (m *Manager) isDropped(entries ...StoredEntry) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(entries, func(e StoredEntry) bool { return m.dropped[e.ID] })
}

// drop ends a job that the operator drops.
func (s *Stream) drop(j *job) error {
	return s.notice(j, ending{how: EndWithdrawn, sev: loop.SeverityWarn, aside: true, text: dropText})
}

// maxDropped is how many messages whose answers aren't delivered are counted as undeliverable.
const maxDropped = MaxBatchWrites - 10

// DropDelivery gives up what an address is still to be shown, of the threads that it was bound to before too: its cursor moves behind
// it, the messages that it ended count as undeliverable, and a line says so in its place. A part that is being posted at this moment
// may still arrive.
func DropDelivery(ctx context.Context, store Store, a Address) error {
	for range maxRetries {
		err := dropDelivery(ctx, store, a)
		var c *Conflict
		if !errors.As(err, &c) {
			return err
		}
	}
	return doorError("%s is busy; try again in a moment", a)
}

func dropDelivery(ctx context.Context, store Store, a Address) error {
	st, err := store.Address(ctx, a)
	if err != nil {
		return fmt.Errorf("session: drop %s: %w", a, err)
	}
	if st.Due == 0 {
		return doorError("nothing waits to be delivered there any more")
	}
	lost, last, err := lostTo(ctx, store, a, st)
	if err != nil {
		return fmt.Errorf("session: drop %s: %w", a, err)
	}
	b := Batch{ID: NewBatchID(), Entries: lost, Due: []DueWrite{{Address: a, Seq: max(st.Due, last), Drop: true}}}
	cur := Cursor{Seq: last + 1, Leg: st.Binding.Leg, Layout: st.Cursor.Layout}
	b.Cursors = []CursorWrite{{Address: a, Rev: st.CursorRev, Cursor: cur}}
	note := Inbound{
		Key: "drop/" + b.ID.String(), Address: a, Call: CallDirect, At: time.Now().UTC(), Author: Author{ID: a.Conduit() + ":operator", Known: true},
	}
	b.Entries = append(b.Entries, EntryWrite{Entry: Entry{ID: note.ID(), Inbound: note, Notice: "An answer couldn't be delivered here. " + dropText}})
	if err := commitSettled(ctx, store, b); err != nil {
		return fmt.Errorf("session: drop %s: %w", a, err)
	}
	return nil
}

// lostTo collects the messages of an address that the records it hasn't been shown have ended, as undeliverable. last is the newest
// record of the thread that it is bound to now.
func lostTo(ctx context.Context, store Store, a Address, st AddressState) (out []EntryWrite, last ledger.Seq, err error) {
	legs, _ := st.Serving()
	for i, leg := range legs {
		from := max(leg.From, 1)
		if i == 0 {
			from = max(from, st.Cursor.Seq)
		}
		last = from - 1
		for recs := []LogRecord{{}}; len(recs) > 0; {
			if recs, err = store.Log(ctx, leg.Thread, last+1, logPage); err != nil {
				return nil, 0, err
			}
			for _, r := range recs {
				if leg.Until != 0 && r.Seq > leg.Until {
					recs = nil
					break
				}
				last = r.Seq
				if out, err = undeliverable(ctx, store, a, leg.Thread, r, out); err != nil {
					return nil, 0, err
				}
			}
		}
	}
	return out, last, nil
}

// undeliverable adds the writes for the messages of an address that a record of a thread ended, as far as one Batch holds them. What was withdrawn
// stays so.
func undeliverable(ctx context.Context, store Store, a Address, in ledger.ThreadID, r LogRecord, out []EntryWrite) ([]EntryWrite, error) {
	ids, by, err := endedBy(ctx, store, in, r)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id.Address != a || len(out) >= maxDropped {
			continue
		}
		e, ok, err := store.Entry(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && e.State == EntryEnded && e.EndSeq == by && e.End != EndWithdrawn && e.End != EndUndeliverable {
			e.End = EndUndeliverable
			out = append(out, EntryWrite{Rev: e.Rev, Entry: e.Entry})
		}
	}
	return out, nil
}

// endedBy returns the messages that a record of a thread ended, and the sequence that they name as their end: of a promoted draft, the draft's.
func endedBy(ctx context.Context, store Store, in ledger.ThreadID, r LogRecord) (ids []EntryID, by ledger.Seq, err error) {
	switch {
	case r.End != nil:
		return r.End.Entries, r.Seq, nil
	case r.Turn != nil:
		return answeredBy(r.Turn), r.Seq, nil
	case r.Final != nil:
		draft, err := store.Log(ctx, in, r.Final.Turn, 1)
		if err != nil || len(draft) == 0 || draft[0].Seq != r.Final.Turn || draft[0].Turn == nil {
			return nil, 0, err
		}
		return answeredBy(draft[0].Turn), r.Final.Turn, nil
	}
	return nil, 0, nil
}

// answeredBy returns the messages that a turn of the assistant answers.
func answeredBy(t *ledger.Turn) (ids []EntryID) {
	if t.Role != ledger.RoleAssistant {
		return nil
	}
	for _, name := range t.Entries {
		if id, err := ParseEntryID(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
