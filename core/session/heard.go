package session

import (
	"encoding/json"
	"slices"
)

// gravePage is how many graves are read at once.
const gravePage = 100

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

// gravesAt returns the graves that the eraser hasn't come to the end of and that have something of an address. There is hardly ever one.
func (m *Manager) gravesAt(a Address) (out []grave, err error) {
	for after := ""; ; {
		page, err := m.cfg.Store.SmallList(m.turns, spaceForgotten, after, gravePage)
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, v := range page {
			var g grave
			if json.Unmarshal(v.Value, &g) == nil && slices.Contains(g.Addresses, a) { // the eraser tells of one that can't be read
				out = append(out, g)
			}
			after = v.Key
		}
	}
}
