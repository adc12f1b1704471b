package session

import "slices"

// heard returns what was heard at an address and is in no turn yet, oldest first. What belongs to a conversation that is being deleted isn't
// among it, whether the eraser has come to it or not.
func (m *Manager) heard(a Address) ([]StoredEntry, error) {
	graves, err := m.gravesAt(a) // first: what a grave held that is gone by now has been emptied
	if err != nil {
		return nil, err
	}
	heard, err := m.cfg.Store.Heard(m.turns, a, maxHeard)
	return slices.DeleteFunc(heard, func(e StoredEntry) bool {
		return slices.ContainsFunc(graves, func(g grave) bool { return g.holds(e.Entry) })
	}), err
}

// passOver lets what was heard at some addresses before a command be no context any more: it was said beside a conversation that ends there
// with the command. It is a write of its own, ahead of that one: a command that a crash keeps from taking effect comes again.
func (s *Stream) passOver(j *job, places []Address) error {
	said := grave{Command: j.first().Inbound}
	for i := 0; i < len(places); {
		heard, err := s.m.heard(places[i])
		if err != nil {
			return &storeError{err}
		}
		b := Batch{ID: NewBatchID()}
		for _, h := range heard {
			if e := h.Entry; said.holds(e) {
				e.State = EntryUsed
				b.Entries = append(b.Entries, EntryWrite{Rev: h.Rev, Entry: e})
			}
		}
		if len(b.Entries) == 0 {
			i++
			continue
		}
		if err := s.put(b); err != nil { // and looks again: there may be more than are read at once
			return err
		}
	}
	return nil
}
