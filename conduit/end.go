package conduit

import (
	"context"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
)

// buryWrites is how many entries are changed in one Batch, which has a few other writes too.
const buryWrites = session.MaxBatchWrites - 8

// bury ends an address that the platform refuses for good: its binding is marked, its cursor moved behind everything, and the
// messages that the undelivered records ended are counted as undeliverable, in one Batch where they fit. It returns errAgain
// where another writer was faster.
func (c *courier) bury(ctx context.Context) error {
	last, ids, err := c.undelivered(ctx)
	if err != nil || last < c.st.Cursor.Seq && c.st.Binding.Gone && c.st.Due == 0 && len(c.legs) == 1 {
		return err
	}
	writes, err := c.markUnseen(ctx, ids, buryWrites)
	if err != nil {
		return err
	}
	return c.all(ctx, c.grave(last, writes))
}

// markUnseen counts messages as undeliverable, in as many Batches as that takes. It leaves at most keep of the writes to the caller's last one.
func (c *courier) markUnseen(ctx context.Context, ids []session.EntryID, keep int) ([]session.EntryWrite, error) {
	writes, err := c.undeliverable(ctx, ids)
	if err != nil {
		return nil, err
	}
	for len(writes) > keep {
		n := min(len(writes), buryWrites)
		if err := c.all(ctx, session.Batch{Entries: writes[:n:n]}); err != nil {
			return nil, err
		}
		writes = writes[n:]
	}
	return writes, nil
}

// grave is the Batch after which nothing is due at the address.
func (c *courier) grave(last ledger.Seq, writes []session.EntryWrite) session.Batch {
	b := session.Batch{Entries: writes}
	if !c.st.Binding.Gone {
		gone := c.st.Binding
		gone.Gone = true
		b.Bindings = []session.BindingWrite{{Address: c.a, Rev: c.st.BindingRev, Binding: gone}}
	}
	cur := c.made(session.Cursor{Seq: max(last+1, c.st.Cursor.Seq)}, form{})
	b.Cursors = []session.CursorWrite{{Address: c.a, Rev: c.st.CursorRev, Cursor: cur}}
	b.Due = []session.DueWrite{{Address: c.a, Seq: max(last, c.st.Due), Drop: true}}
	if len(c.legs) > 1 {
		b.Cursors[0].Cursor, b.Due = c.ahead()
	}
	return b
}

// all commits a Batch and lets the courier read anew: after a success it finds the address as it now is.
func (c *courier) all(ctx context.Context, b session.Batch) error {
	b.ID = session.NewBatchID()
	conflict, err := c.commit(ctx, b)
	if err != nil {
		return err
	}
	if conflict || len(b.Cursors) > 0 {
		return errAgain
	}
	return nil
}

// undelivered collects the messages of this address that the records from the cursor on ended, and the newest record.
func (c *courier) undelivered(ctx context.Context) (last ledger.Seq, ids []session.EntryID, err error) {
	seq := max(c.st.Cursor.Seq, c.legs[0].From, 1)
	last = seq - 1
	for u := c.legs[0].Until; u == 0 || seq <= u; seq = last + 1 {
		rec, ok, err := c.log.next(ctx, seq)
		if c.unreadable(err, seq) {
			last = seq
			continue
		}
		if err != nil || !ok {
			return last, ids, err
		}
		last = rec.Seq
		more, err := c.endedBy(ctx, rec)
		if err != nil {
			return last, nil, err
		}
		ids = append(ids, more...)
	}
	return last, ids, nil
}

// endedBy returns the messages that a record ended.
func (c *courier) endedBy(ctx context.Context, rec session.LogRecord) ([]session.EntryID, error) {
	switch {
	case rec.End != nil && c.here(rec.End.To):
		return rec.End.Entries, nil
	case rec.Turn != nil && rec.Turn.Final():
		return entriesOf(*rec.Turn), nil
	case rec.Final != nil:
		draft, ok, err := c.log.one(ctx, rec.Final.Turn)
		if c.unreadable(err, rec.Final.Turn) {
			return nil, nil
		}
		if err != nil || !ok || draft.Turn == nil {
			return nil, err
		}
		return entriesOf(*draft.Turn), nil
	}
	return nil, nil
}

// undeliverable returns the writes that give the entries of this address their new end. What was withdrawn stays so, and an entry
// named twice is written once.
func (c *courier) undeliverable(ctx context.Context, ids []session.EntryID) ([]session.EntryWrite, error) {
	var writes []session.EntryWrite
	seen := map[session.EntryID]bool{}
	for _, id := range ids {
		if !c.here(id.Address) || seen[id] {
			continue
		}
		seen[id] = true
		e, ok, err := c.entry(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && e.State == session.EntryEnded && e.End != session.EndWithdrawn && e.End != session.EndUndeliverable {
			e.End = session.EndUndeliverable
			writes = append(writes, session.EntryWrite{Rev: e.Rev, Entry: e.Entry})
		}
	}
	return writes, nil
}

// move binds the address to where the platform says it is now. The part at the cursor was surely not posted; its intent holds.
func (c *courier) move(ctx context.Context, e *Error) error {
	if !e.To.Valid() || e.To.Conduit() != c.cfg.Name || e.To == c.at() {
		c.once("address moved nowhere", e)
		return c.backOff(ctx)
	}
	c.slog.Info("address moved", observe.KeyState, string(e.To))
	moved := c.st.Binding
	moved.MovedTo = e.To
	b := session.Batch{ID: session.NewBatchID()}
	b.Bindings = []session.BindingWrite{{Address: c.a, Rev: c.st.BindingRev, Binding: moved}}
	if _, err := c.commit(ctx, b); err != nil {
		return err
	}
	return errAgain
}
