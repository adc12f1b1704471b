package session

import (
	"slices"

	"orebot/core/ledger"
)

// maxBack is how many conversations `undo` can go back through.
const maxBack = 20

// renew begins a fresh conversation at the command's address, and at those that are linked to it, under an id that its message decides.
// The reply is the last record that this thread shows there; the binding keeps the way back, and what is still to be delivered of this
// log.
//
// What stands behind the command is asked there: the message isn't over, and what is left of it is a question. In a conversation that is
// fresh already, it is asked at once (over is false).
func (s *Stream) renew(j *job, eff Effect) (over bool, err error) {
	fresh := len(s.live.turns()) == 0 && s.live.broken == nil
	next := Binding{Thread: ThreadOf(j.first().ID), From: 1}
	if eff.Ask {
		s.m.stripCommand(j.first())
	}
	switch {
	case fresh && eff.Ask:
		return false, nil
	case fresh:
		return true, s.notice(j, replying(eff.Say(Outcome{})))
	}
	e := replying(eff.Say(Outcome{Done: true}))
	e.goesOn = eff.Ask
	e.lead = s.tellOthers(j.addr, "A fresh conversation begins, here too.")
	return true, s.rebind(j, next, e, func(old Binding) (back, left []ledger.ThreadID) {
		back = append(slices.Clone(old.Back), s.thread)
		n := max(0, len(back)-maxBack)
		return back[n:], append(slices.Clone(old.Left), back[:n]...)
	})
}

// stripCommand makes a question of a message that begins with a command.
func (m *Manager) stripCommand(e *StoredEntry) {
	name, args, _ := m.parse(e.Inbound)
	in := &e.Inbound
	e.Behind, in.Text, in.ReplyURL = name, args, ""
	if in.Call == CallCommand {
		if in.Call = CallMention; in.Place == "" {
			in.Call = CallDirect
		}
	}
}

// behind is an edit of a message without the command that this began with.
func (m *Manager) behind(e Entry, in Inbound) Inbound {
	asked := in
	asked.Call, asked.Signal = CallCommand, SignalNone
	if name, args, ok := m.parse(asked); e.Behind != "" && ok && name == e.Behind && in.Text != "" && (in.Text[0] == '/' || in.Text[0] == '!') {
		in.Text = args
	}
	return in
}

// goBack lets the conversation before this one go on, where there was one that all its places had.
func (s *Stream) goBack(j *job, eff Effect) error {
	was, err := s.bindings(append([]Address{j.addr}, s.others(j.addr)...))
	if err != nil {
		return err
	}
	thread, ok := lastBack(was[j.addr].Binding)
	for _, st := range was {
		if t, too := lastBack(st.Binding); !too || t != thread {
			ok = false
		}
	}
	if !ok {
		return s.notice(j, replying(eff.Say(Outcome{})))
	}
	old, _, ok, err := s.m.cfg.Store.Thread(s.m.turns, thread)
	if err != nil {
		return &storeError{err}
	}
	if !ok { // it was deleted
		return s.notice(j, replying(eff.Say(Outcome{})))
	}
	next := Binding{Thread: thread, From: old.Last + 1}
	e := replying(eff.Say(Outcome{Done: true, Back: true}))
	e.lead = s.tellOthers(j.addr, "The conversation before this one goes on, here too.")
	return s.rebind(j, next, e, func(now Binding) (_, left []ledger.ThreadID) {
		return now.Back[:len(now.Back)-1], append(slices.Clone(now.Left), s.thread)
	})
}

// lastBack is the conversation that `undo` returns to.
func lastBack(b Binding) (ledger.ThreadID, bool) {
	if len(b.Back) == 0 {
		return ledger.ThreadID{}, false
	}
	return b.Back[len(b.Back)-1], true
}

// rebind ends the command with its reply here and binds its address, with those that are linked to it, to another thread, in one Batch.
func (s *Stream) rebind(j *job, next Binding, e ending, kept func(Binding) (back, left []ledger.ThreadID)) error {
	all := append([]Address{j.addr}, s.others(j.addr)...)
	was, err := s.bindings(all)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		next.With = all
	}
	e.with = func(b *Batch) {
		for _, a := range all {
			st, n := was[a], next
			if st.BindingRev == (Revision{}) {
				st.Binding = Binding{Thread: s.thread, From: b.After + 1}
			}
			n.MovedTo, n.Own, n.Leg = st.Binding.MovedTo, st.Binding.Own, st.Binding.Leg+1
			n.Gone = st.Binding.Gone && a != j.addr
			n.Back, n.Left = kept(st.Binding)
			n.Before = append(st.unserved(), st.leg(b.State.Last))
			b.rebind(a, st.BindingRev, n)
		}
	}
	if err := s.passOver(j, all); err != nil {
		return err
	}
	if err := s.notice(j, e); err != nil {
		return err
	}
	if e.goesOn {
		s.waiting = append(s.waiting, j.entries...)
	}
	for _, a := range all {
		delete(s.live.places, a)
		s.handOver(a, next.Thread)
	}
	return nil
}

// unserved are the legs before the present one of which something may still have to be delivered.
func (st AddressState) unserved() []Leg {
	done := len(st.Binding.Before) - int(st.Binding.Leg-min(st.Cursor.Leg, st.Binding.Leg))
	return slices.Clone(st.Binding.Before[max(done, 0):])
}

// Serving returns the legs that the address's cursor has still to go through: the one it is in, and those that follow. n is the
// first one's number, as Cursor.Leg has it.
func (st AddressState) Serving() (legs []Leg, n uint32) {
	behind := st.unserved()
	now := Leg{Thread: st.Binding.Thread, From: st.Binding.From, Until: st.Binding.Until}
	return append(behind, now), st.Binding.Leg - uint32(len(behind))
}

// handOver routes an address to another thread, with what waits here of it.
func (s *Stream) handOver(a Address, to ledger.ThreadID) {
	var rest []StoredEntry
	var ids []EntryID
	for _, e := range s.waiting {
		if e.ID.Address == a {
			ids = append(ids, e.ID)
		} else {
			rest = append(rest, e)
		}
	}
	s.waiting = rest
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	delete(s.m.places, a) // who writes in the other one is read anew
	if s.m.stopping {
		return
	}
	s.m.routes[a] = to
	for _, id := range s.inbox {
		if id.Address == a {
			ids = append(ids, id)
		}
	}
	s.inbox = slices.DeleteFunc(s.inbox, func(id EntryID) bool { return id.Address == a })
	for _, id := range ids {
		s.m.hand(to, id)
	}
}

// putBack lets messages be read again that were taken out of what waits.
func (s *Stream) putBack(ids []EntryID) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if !s.m.stopping {
		s.inbox = append(s.inbox, ids...)
	}
}

// settled notes where the bot has been told to speak only when called.
func (m *Manager) settled(t Thread) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range t.Addresses {
		if p := m.places[a]; p != nil {
			p.muted = t.Muted(a)
		}
	}
}
