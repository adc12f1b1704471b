package conduit

import (
	"context"
	"errors"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
)

// readPage is how many records are read at once: more than an exchange has, and few enough to hold.
const readPage = 16

// reader hands out the records of one thread in order.
type reader struct {
	store  session.Reader
	thread ledger.ThreadID
	page   []session.LogRecord
}

// of makes the reader one of the given thread.
func (r *reader) of(thread ledger.ThreadID) {
	if thread != r.thread {
		r.thread, r.page = thread, nil
	}
}

// next returns the first record from seq on; ok is false where there is none yet. A record that can't be decoded is returned
// without a kind, together with its *CorruptError, which says no more than that.
func (r *reader) next(ctx context.Context, seq ledger.Seq) (rec session.LogRecord, ok bool, err error) {
	for len(r.page) > 0 && r.page[0].Seq < seq {
		r.page = r.page[1:]
	}
	if len(r.page) == 0 || r.page[0].Seq > seq {
		if r.page, err = r.load(ctx, seq); err != nil {
			return session.LogRecord{Seq: seq}, false, err
		}
	}
	if len(r.page) == 0 {
		return session.LogRecord{}, false, nil
	}
	return r.page[0], true, nil
}

// load reads a page, or what of it lies before a record that can't be decoded.
func (r *reader) load(ctx context.Context, seq ledger.Seq) ([]session.LogRecord, error) {
	page, err := r.store.Log(ctx, r.thread, seq, readPage)
	var corrupt *session.CorruptError
	if errors.As(err, &corrupt) && corrupt.Seq > seq {
		return r.store.Log(ctx, r.thread, seq, int(min(corrupt.Seq-seq, readPage)))
	}
	return page, err
}

// one returns the record numbered seq.
func (r *reader) one(ctx context.Context, seq ledger.Seq) (session.LogRecord, bool, error) {
	recs, err := r.store.Log(ctx, r.thread, seq, 1)
	if err != nil || len(recs) == 0 || recs[0].Seq != seq {
		return session.LogRecord{}, false, err
	}
	return recs[0], true, nil
}

// scan returns the first item from seq on that the address is to be shown. last is the newest record looked at, 0 for none.
func (c *courier) scan(ctx context.Context, seq ledger.Seq) (it Item, found bool, last ledger.Seq, err error) {
	b := c.legs[0]
	for seq = max(seq, b.From, 1); b.Until == 0 || seq <= b.Until; seq = last + 1 {
		rec, ok, err := c.log.next(ctx, seq)
		if c.unreadable(err, seq) {
			last = seq
			continue
		}
		if err != nil || !ok {
			return Item{}, false, last, err
		}
		last = rec.Seq
		if it, found, err = c.item(ctx, rec); err != nil || found {
			return it, found, last, err
		}
	}
	return Item{}, false, last, nil
}

// unreadable reports whether err says that record seq can't be decoded. Nobody can show it then; the operator is told.
func (c *courier) unreadable(err error, seq ledger.Seq) bool {
	var corrupt *session.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Seq != seq || seq == 0 {
		return false
	}
	c.slog.Error("record skipped", observe.KeySeq, uint64(seq), observe.KeyError, err)
	return true
}
