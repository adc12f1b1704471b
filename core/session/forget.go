package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
)

// forgetAll lets a conversation be deleted, with those before it at its addresses. One Batch unbinds them, drops what is due, and
// writes the grave; the line that says so is the first record of the thread that goes on there.
func (s *Stream) forgetAll(j *job, eff Effect) error {
	fresh := ThreadOf(j.first().ID)
	for try := 1; ; try++ {
		was := slices.Clone(j.entries)
		b, places, err := s.burial(j, fresh, replying(eff.Say(Outcome{Done: true})))
		if err != nil {
			return err
		}
		err = s.put(b)
		if err == nil {
			s.buried(j, fresh, places, b.Log[len(b.Log)-1])
			return nil
		}
		j.entries = was
		var c *Conflict
		if !errors.As(err, &c) || try == maxApply { // a courier may have moved a cursor
			return err
		}
	}
}

// burial makes the Batch.
func (s *Stream) burial(j *job, fresh ledger.ThreadID, e ending) (b Batch, places []Address, err error) {
	e.lead = s.tellOthers(j.addr, "This conversation was deleted for good. A fresh one begins, here too.")
	b = Batch{ID: NewBatchID(), Thread: fresh, Log: s.records(j, e)}
	for i := range b.Log {
		b.Log[i].Seq = ledger.Seq(i + 1)
	}
	last := ledger.Seq(len(b.Log))
	g := grave{Threads: []ledger.ThreadID{s.thread}, Command: j.first().Inbound.without()}
	places = append([]Address{j.addr}, s.others(j.addr)...)
	was, err := s.bindings(places)
	if err != nil {
		return b, nil, err
	}
	g.take(was[j.addr].Binding)
	for _, a := range places {
		was[a].uproot(&b, a, fresh, last, g.Threads)
		if a == j.addr { // somebody has just written there
			b.Bindings[len(b.Bindings)-1].Binding.Gone = false
		}
	}
	g.Addresses = places
	now := time.Now().UTC()
	b.State = &Thread{Last: last, Addresses: places, Opened: now, Used: now}
	for i := range j.entries {
		o := &j.entries[i]
		o.State, o.End, o.EndSeq, o.Thread, o.Starts = EntryEnded, EndNoticed, last, fresh, 0
	}
	s.writeEntries(&b, j, now.Add(s.m.cfg.KeepEntries))
	value, err := json.Marshal(g)
	b.Small = []SmallWrite{{Space: spaceForgotten, Key: fresh.String(), Value: value}}
	return b, places, err
}

// unbind binds an address to a fresh thread, of which it is shown what there is up to last, and of the old ones nothing more.
func (st AddressState) unbind(b *Batch, a Address, fresh ledger.ThreadID, last ledger.Seq) {
	next := Binding{Thread: fresh, From: 1, Own: st.Binding.Own, MovedTo: st.Binding.MovedTo, Leg: st.Binding.Leg + 1}
	b.Bindings = append(b.Bindings, BindingWrite{Address: a, Rev: st.BindingRev, Binding: next})
	b.Due = append(b.Due, DueWrite{Address: a, Seq: last, Anew: true})
	b.Cursors = append(b.Cursors, CursorWrite{Address: a, Rev: st.CursorRev, Cursor: Cursor{Seq: 1, Leg: next.Leg}})
}

// uproot does the same, but for what isn't deleted: earlier conversations of an address that is linked to the one whose people delete this
// one, and one that a link has ended or put off. They stay, and what is still to be shown of them is shown.
func (st AddressState) uproot(b *Batch, a Address, fresh ledger.ThreadID, last ledger.Seq, deleted []ledger.ThreadID) {
	gone := func(id ledger.ThreadID) bool { return slices.Contains(deleted, id) }
	old, behind := st.Binding, st.unserved()
	st.unbind(b, a, fresh, last)
	next := &b.Bindings[len(b.Bindings)-1].Binding
	next.Gone = old.Gone
	next.Back = slices.DeleteFunc(slices.Clone(old.Back), gone)
	next.Left = slices.DeleteFunc(slices.Clone(old.Left), gone)
	if !slices.ContainsFunc(behind, func(l Leg) bool { return !gone(l.Thread) }) {
		return
	}
	for _, l := range append(behind, st.leg(0)) {
		if gone(l.Thread) {
			l.From, l.Until = 2, 1
		}
		next.Before = append(next.Before, l)
	}
	b.Cursors = b.Cursors[:len(b.Cursors)-1]
}

// buried is what follows that Batch: this Stream lets go of everything, and what waits goes to the thread that follows.
func (s *Stream) buried(j *job, fresh ledger.ThreadID, places []Address, end LogRecord) {
	s.countEnds(j, EndNoticed)
	ctx := loop.WithThreadID(loop.WithProvenance(context.Background(), string(j.addr)), fresh.String())
	notice := loop.Notice{Content: end.End.Text, Severity: end.End.Severity}
	s.live.step.Emit(ctx, loop.NoticeEvent{Notice: notice, Ctx: WithSeq(ctx, uint64(end.Seq))})
	signals := idsOf(s.signals)
	s.signals = nil
	s.close()
	for _, a := range places {
		s.handOver(a, fresh)
	}
	for _, id := range signals {
		s.m.wake(id)
	}
	select {
	case s.m.graves <- struct{}{}:
	default:
	}
}

// eraseForgotten deletes what has been forgotten, in this life or an earlier one, until ctx ends.
func (m *Manager) eraseForgotten(ctx context.Context) {
	for try := 0; ; {
		err := guarded(func() error { return m.eraseAll(ctx) })
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return
		}
		if err != nil {
			m.cfg.Logger.Error("conversation not deleted yet", observe.KeyError, err)
			if sleep(ctx, backoff(try)) != nil {
				return
			}
			try++
			continue
		}
		try = 0
		select {
		case <-ctx.Done():
			return
		case <-m.graves:
		}
	}
}

// eraseAll deletes what every grave names. One that can't be deleted now doesn't keep the others.
func (m *Manager) eraseAll(ctx context.Context) error {
	var errs []error
	for after := ""; ; {
		page, err := m.cfg.Store.SmallList(ctx, spaceForgotten, after, gravePage)
		if err != nil || len(page) == 0 {
			return errors.Join(append(errs, err)...)
		}
		for _, v := range page {
			after = v.Key
			if err := m.erase(ctx, v); err != nil {
				errs = append(errs, fmt.Errorf("session: forget, for %s: %w", v.Key, err))
			}
		}
	}
}

// erase deletes one conversation: first what its messages said, then its threads, then the grave.
func (m *Manager) erase(ctx context.Context, v SmallValue) error {
	var g grave
	if err := json.Unmarshal(v.Value, &g); err != nil {
		return err
	}
	if len(g.Threads) == 0 {
		return errors.New("it names no conversation")
	}
	m.evict(g.Threads)
	for _, a := range g.Addresses {
		err := m.hollow(ctx, g, a)
		var corrupt *CorruptError
		if errors.As(err, &corrupt) { // one that can't be read mustn't keep the others
			m.cfg.Logger.Error("entry unreadable", observe.KeyAddress, string(a), observe.KeyError, err)
		} else if err != nil {
			return err
		}
	}
	for _, id := range g.Threads {
		if err := m.cfg.Store.Erase(ctx, id); err != nil {
			return err
		}
	}
	drop := Batch{ID: NewBatchID(), Small: []SmallWrite{{Space: spaceForgotten, Key: v.Key, Rev: v.Rev}}}
	if err := commitSettled(ctx, m.cfg.Store, drop); err != nil {
		return err
	}
	m.evict(g.Threads)
	m.filesLeft()
	m.cfg.Logger.Info("conversation deleted", observe.KeyThread, g.Threads[0].String(), observe.KeyCount, len(g.Threads))
	return nil
}

// filesLeft tells that something was deleted that may have named files.
func (m *Manager) filesLeft() {
	if m.cfg.Erased != nil {
		m.cfg.Erased()
	}
}

// evict drops what is in memory of threads that nobody is at work on.
func (m *Manager) evict(threads []ledger.ThreadID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range threads {
		if s := m.streams[id]; s != nil && !s.running && len(s.waiting)+len(s.inbox) == 0 {
			s.close()
			delete(m.streams, id)
		}
	}
}

// hollowPage is how many entries are emptied in one Batch.
const hollowPage = 100

// hollow empties the entries of an address that belong to what is deleted. Their keys stay: a message that is delivered again is
// still a duplicate.
func (m *Manager) hollow(ctx context.Context, g grave, a Address) error {
	for after := ""; ; {
		page, err := m.cfg.Store.Entries(ctx, a, after, hollowPage)
		if err != nil || len(page) == 0 {
			return err
		}
		b := Batch{ID: NewBatchID()}
		for _, e := range page {
			if g.holds(e.Entry) && !e.hollowed() {
				b.Entries = append(b.Entries, EntryWrite{Rev: e.Rev, Entry: e.hollow()})
			}
		}
		if len(b.Entries) > 0 {
			err := commitSettled(ctx, m.cfg.Store, b)
			var c *Conflict
			if errors.As(err, &c) { // an edit came between: read again
				continue
			}
			if err != nil {
				return err
			}
		}
		after = page[len(page)-1].ID.Key
	}
}
