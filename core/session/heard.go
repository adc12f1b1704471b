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
