package session

import (
	"cmp"
	"slices"
)

// next takes the job that comes first: what was submitted before a restart, then the first address in the order of arrival, and
// of that address what was written first.
func (s *Stream) next() *job {
	if len(s.waiting) == 0 {
		s.settles = nil
		return nil
	}
	if i := slices.IndexFunc(s.waiting, s.urgent); i >= 0 {
		id := s.waiting[i].ID
		return s.remove(func(e StoredEntry) bool { return e.ID == id })
	}
	if i := slices.IndexFunc(s.waiting, func(e StoredEntry) bool { return e.State == EntrySubmitted }); i >= 0 {
		seq := s.waiting[i].Turn
		return s.remove(func(e StoredEntry) bool { return e.State == EntrySubmitted && e.Turn == seq })
	}
	s.rest = 0
	for _, at := range s.places() {
		if j := s.nextAt(at); j != nil {
			s.rest = 0 // once the job is done, it is looked at anew how long to wait
			return j
		}
	}
	return nil
}

// nextAt takes what was written first at an address, with what is answered together with it: consecutive plain messages of one author. It
// returns nil while that message waits for the rest of its group; other addresses needn't wait for it.
func (s *Stream) nextAt(at Address) *job {
	take, ok := s.unit(s.waitingAt(at)[0])
	if !ok {
		return nil
	}
	taken := func(e StoredEntry) bool {
		return slices.ContainsFunc(take, func(o StoredEntry) bool { return o.ID == e.ID })
	}
	for !s.m.cfg.OneByOne {
		rest := slices.DeleteFunc(s.waitingAt(at), taken)
		if len(rest) == 0 || !s.goTogether(take, rest[:1]) {
			break
		}
		more, ok := s.unit(rest[0])
		if !ok || !s.goTogether(take, more) || s.heardBetween(take, more) {
			break
		}
		take = append(take, more...)
	}
	return s.remove(taken)
}

// unit returns a message with the rest of its group; ok is false as long as more of it may come.
func (s *Stream) unit(first StoredEntry) (members []StoredEntry, ok bool) {
	if first.Inbound.Group == "" {
		return []StoredEntry{first}, true
	}
	return s.group(first)
}

// places returns the addresses of what waits, in the order of arrival.
func (s *Stream) places() (out []Address) {
	for _, e := range s.waiting {
		if !slices.Contains(out, e.ID.Address) {
			out = append(out, e.ID.Address)
		}
	}
	return out
}

// waitingAt returns what waits at an address, in the order in which it was written; before all that, the message with which it joins this
// conversation.
func (s *Stream) waitingAt(a Address) (here []StoredEntry) {
	for _, e := range s.waiting {
		if e.ID.Address == a {
			here = append(here, e)
		}
	}
	slices.SortStableFunc(here, func(a, b StoredEntry) int {
		switch {
		case a.Join != nil && b.Join == nil:
			return -1
		case a.Join == nil && b.Join != nil:
			return 1
		}
		return cmp.Compare(a.Inbound.Order, b.Inbound.Order)
	})
	return here
}

// remove makes a job of the waiting entries that match.
func (s *Stream) remove(match func(StoredEntry) bool) *job {
	j := &job{unsign: func() {}}
	rest := s.waiting[:0:0]
	for _, e := range s.waiting {
		if match(e) {
			j.entries = append(j.entries, e)
			delete(s.settles, e.ID)
		} else {
			rest = append(rest, e)
		}
	}
	s.waiting = rest
	inOrder(j.entries)
	j.addr, j.turn = j.entries[0].ID.Address, j.entries[0].Turn
	return j
}
