package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
)

// ages tells how long the oldest of what waits has waited: the figures that an alert for "stuck" needs.
type ages struct {
	store session.Store
	now   func() time.Time

	mu      sync.Mutex
	waiting map[session.EntryID]bool // what the feed named and no look has found ended
}

func newAges(store session.Store, now func() time.Time) *ages {
	return &ages{store: store, now: now, waiting: map[session.EntryID]bool{}}
}

// run takes from the feed what comes to wait, until ctx ends.
func (a *ages) run(ctx context.Context) error {
	return a.store.Watch(ctx, func(id session.EntryID) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.waiting[id] = true
	})
}

// entry returns the age of the oldest message that has no end, by the time its platform gave it; 0 where none waits.
func (a *ages) entry(ctx context.Context) (time.Duration, error) {
	var oldest time.Time
	for _, id := range a.named() {
		e, ok, err := a.store.Entry(ctx, id)
		if err != nil {
			return 0, err
		}
		if !ok || !e.State.Waits() {
			a.forget(id)
			continue
		}
		oldest = earlier(oldest, e.Inbound.At)
	}
	return a.since(oldest), nil
}

func (a *ages) named() []session.EntryID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]session.EntryID, 0, len(a.waiting))
	for id := range a.waiting {
		ids = append(ids, id)
	}
	return ids
}

// forget drops a message that has ended. None comes to wait again, so that it can't be one that the feed has just named.
func (a *ages) forget(id session.EntryID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// duePage is how many addresses that are behind are listed at once.
const duePage = 256

// delivery returns the age of the oldest answer or notice that a conduit has still to show; 0 where it is behind with none.
func (a *ages) delivery(ctx context.Context, conduit string) (time.Duration, error) {
	var oldest time.Time
	for after := session.Address(""); ; {
		page, err := a.store.Due(ctx, conduit, after, duePage)
		if err != nil {
			return 0, err
		}
		for _, at := range page {
			made, err := a.undelivered(ctx, at)
			if err != nil {
				return 0, err
			}
			oldest = earlier(oldest, made)
		}
		if len(page) < duePage {
			return a.since(oldest), nil
		}
		after = page[len(page)-1]
	}
}

// lookAhead is how many records behind a cursor are looked at for one that is to be shown.
const lookAhead = 64

// undelivered returns when the first record was made that an address is to be shown and hasn't been; the zero time for none.
func (a *ages) undelivered(ctx context.Context, at session.Address) (time.Time, error) {
	st, err := a.store.Address(ctx, at)
	if err != nil || st.Due == 0 {
		return time.Time{}, err
	}
	legs, _ := st.Serving()
	leg := legs[0]
	recs, err := a.store.Log(ctx, leg.Thread, max(st.Cursor.Seq, leg.From, 1), lookAhead)
	if _, corrupt := errors.AsType[*session.CorruptError](err); corrupt {
		return time.Time{}, nil // its courier says so in the log, and goes past it
	}
	if err != nil {
		return time.Time{}, err
	}
	for _, rec := range recs {
		if made := shownAt(rec, at); !made.IsZero() && within(rec.Seq, leg) {
			return made, nil
		}
	}
	return time.Time{}, nil
}

// within reports whether an address may see a record.
func within(seq ledger.Seq, b session.Leg) bool { return b.Until == 0 || seq <= b.Until }

// shownAt returns when a record was made that an address is shown; the zero time for what isn't shown there.
func shownAt(rec session.LogRecord, at session.Address) time.Time {
	switch {
	case rec.Turn != nil && rec.Turn.Final():
		return rec.Turn.Time
	case rec.End != nil && rec.End.To == at:
		return rec.End.Time
	}
	return time.Time{}
}

func (a *ages) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, a.now().Sub(t))
}

// earlier returns the earlier of two times, of which a zero one doesn't count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
