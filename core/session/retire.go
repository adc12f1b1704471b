package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/observe"
)

// SettingRetired is the last record of a conversation that is deleted because nobody has used it for so long. It is there so that a
// message that is submitted at the same time meets a Conflict, and begins a fresh conversation.
const SettingRetired = "retired"

// retirePage is how many addresses are looked at between two reads of the list.
const retirePage = 100

// retire deletes conversations that nobody has used for Config.Retention, until ctx ends. The first look is a while after the start:
// a start has more to do.
func (m *Manager) retire(ctx context.Context) {
	if m.cfg.Retention <= 0 {
		return
	}
	t := time.NewTicker(min(max(m.cfg.Retention/8, time.Second), time.Hour))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			err := guarded(func() error { return m.retireAll(ctx, now.Add(-m.cfg.Retention)) })
			if err != nil && ctx.Err() == nil {
				m.cfg.Logger.Error("idle conversations stay", observe.KeyError, err)
			}
		}
	}
}

// retireAll looks at every address. One that can't be read, or that somebody writes at meanwhile, is left to the next look.
func (m *Manager) retireAll(ctx context.Context, before time.Time) error {
	for after := Address(""); ; {
		page, err := m.cfg.Store.Bound(ctx, after, retirePage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, a := range page {
			after = a
			err := m.retireAt(ctx, a, before)
			var corrupt *CorruptError
			var conflict *Conflict
			switch {
			case errors.As(err, &corrupt):
				m.cfg.Logger.Error("idle conversation unreadable", observe.KeyAddress, string(a), observe.KeyError, err)
			case err != nil && !errors.As(err, &conflict):
				return err
			}
		}
	}
}

// retireAt deletes what is idle of the conversations that an address has and had.
func (m *Manager) retireAt(ctx context.Context, a Address, before time.Time) error {
	st, busy, err := m.quiet(ctx, a)
	if err != nil || busy {
		return err
	}
	t, _, ok, err := m.cfg.Store.Thread(ctx, st.Binding.Thread)
	if err != nil {
		return err
	}
	if ok && t.Used.Before(before) {
		return m.retireThread(ctx, a, st.Binding.Thread, t)
	}
	return m.retireEarlier(ctx, a, st, before)
}

// quiet reads an address; busy says that something waits there to be answered or delivered, which comes first.
func (m *Manager) quiet(ctx context.Context, a Address) (st AddressState, busy bool, err error) {
	if st, err = m.cfg.Store.Address(ctx, a); err != nil {
		return st, true, err
	}
	if owed, err := m.owed(ctx, st); err != nil || owed {
		return st, true, err
	}
	waiting, err := m.cfg.Store.Waiting(ctx, a)
	return st, len(waiting) > 0, err
}

// owed reports whether an address is still to be shown something. One that has come to another conversation counts as due until there is a
// first record for it.
func (m *Manager) owed(ctx context.Context, st AddressState) (bool, error) {
	legs, _ := st.Serving()
	if st.Due == 0 || len(legs) > 1 || st.Cursor.Seq < st.Due {
		return st.Due != 0, nil
	}
	t, _, ok, err := m.cfg.Store.Thread(ctx, legs[0].Thread)
	return ok && t.Last >= st.Cursor.Seq, err
}

// retireThread deletes the conversation of an address, with those before it. Its places go on with a fresh one, about which nothing is
// said. One Batch unbinds them and writes the grave; the eraser does the rest, in this life or a later one.
func (m *Manager) retireThread(ctx context.Context, a Address, thread ledger.ThreadID, t Thread) error {
	places := slices.Clone(t.Addresses)
	if !slices.Contains(places, a) {
		places = append(places, a)
	}
	fresh := ThreadOf(EntryID{Address: a, Key: SettingRetired + "/" + thread.String()})
	g := grave{Threads: []ledger.ThreadID{thread}, Addresses: places, Command: Inbound{At: t.Used}}
	b := Batch{ID: NewBatchID(), Thread: thread, After: t.Last}
	for _, p := range places {
		st, busy, err := m.quiet(ctx, p)
		if err != nil || busy {
			return err
		}
		if st.Binding.Thread != thread {
			continue
		}
		g.take(st.Binding)
		next := Binding{Thread: fresh, From: 1, MovedTo: st.Binding.MovedTo, Gone: st.Binding.Gone, Leg: st.Binding.Leg + 1, Own: st.Binding.Own}
		if len(places) > 1 {
			next.With = places
		}
		b.Bindings = append(b.Bindings, BindingWrite{Address: p, Rev: st.BindingRev, Binding: next})
		b.Cursors = append(b.Cursors, CursorWrite{Address: p, Rev: st.CursorRev, Cursor: Cursor{Seq: 1, Leg: next.Leg}})
	}
	end := Setting{Key: SettingRetired, Value: time.Now().UTC().Format(time.RFC3339)}
	t.Last, t.Addresses = t.Last+1, nil
	b.Log, b.State = []LogRecord{{Seq: t.Last, Kind: KindSetting, Setting: &end}}, &t
	if err := m.bury(ctx, b, fresh, g); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range places {
		delete(m.places, p)
		delete(m.routes, p)
	}
	return nil
}

// retireEarlier deletes the idle ones of the conversations that an address had before the present one. The binding forgets them in the
// same Batch, so that nothing returns to one that is being deleted.
func (m *Manager) retireEarlier(ctx context.Context, a Address, st AddressState, before time.Time) error {
	g := grave{Addresses: []Address{a}, Only: true}
	idle := func(id ledger.ThreadID) bool {
		t, _, ok, err := m.cfg.Store.Thread(ctx, id)
		if err != nil || ok && !t.Used.Before(before) {
			return false
		}
		if ok {
			g.Threads = append(g.Threads, id)
		}
		return true
	}
	next := st.Binding
	next.Back = slices.DeleteFunc(slices.Clone(next.Back), idle)
	next.Left = slices.DeleteFunc(slices.Clone(next.Left), idle)
	if o := next.Own; o != nil {
		own := Own{Thread: o.Thread, From: o.From, Open: o.Open}
		own.Back = slices.DeleteFunc(slices.Clone(o.Back), idle)
		own.Left = slices.DeleteFunc(slices.Clone(o.Left), idle)
		if idle(o.Thread) {
			own.Thread = ledger.ThreadID{}
		}
		next.Own = &own
	}
	if len(g.Threads) == 0 {
		return nil
	}
	b := Batch{ID: NewBatchID(), Bindings: []BindingWrite{{Address: a, Rev: st.BindingRev, Binding: next}}}
	return m.bury(ctx, b, g.Threads[0], g)
}

// bury commits a Batch with a grave in it, and lets the eraser know.
func (m *Manager) bury(ctx context.Context, b Batch, key ledger.ThreadID, g grave) error {
	value, err := json.Marshal(g)
	if err != nil {
		return err
	}
	b.Small = []SmallWrite{{Space: spaceForgotten, Key: key.String(), Value: value}}
	if err := commitSettled(ctx, m.cfg.Store, b); err != nil {
		return err
	}
	select {
	case m.graves <- struct{}{}:
	default:
	}
	return nil
}
