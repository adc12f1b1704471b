package session

import (
	"cmp"
	"slices"
	"time"

	"orebot/core/observe"
)

// maxSettleFor is the longest that a group is waited for.
const maxSettleFor = 10 * time.Second

// group returns a message and the rest of its group: an album, the pieces of a cut paste, a comment with its forwards. Members that alone
// would only have been heard belong to it. As long as more of them may come it isn't ok, and it is noted how long that is.
func (s *Stream) group(first StoredEntry) (members []StoredEntry, ok bool) {
	same := func(e StoredEntry) bool { return e.State == EntryOpen && sameGroup(first, e) }
	heard := s.gatherGroup(first)
	for _, e := range s.waiting {
		if same(e) {
			members = append(members, e)
		}
	}
	if wait := s.settling(slices.Concat(members, heard)); wait > 0 {
		if s.rest == 0 || wait < s.rest {
			s.rest = wait
		}
		return nil, false
	}
	for _, e := range heard {
		e.State = EntryOpen // with its group, it is a message that comes to an end
		s.m.countAccepted(e.Entry)
		s.waiting = append(s.waiting, e)
		members = append(members, e)
	}
	return members, true
}

// gatherGroup returns the heard members of a message's group, and lets in those that wait in the store and haven't been named yet.
func (s *Stream) gatherGroup(first StoredEntry) []StoredEntry {
	a, same := first.ID.Address, func(e StoredEntry) bool { return sameGroup(first, e) }
	err := s.letIn(a, same)
	var heard []StoredEntry
	if err == nil {
		heard, err = s.m.heard(a)
	}
	if err != nil { // what has come so far is answered
		s.m.cfg.Logger.Error("group unreadable", observe.KeyAddress, a, observe.KeyError, err)
		return nil
	}
	return slices.DeleteFunc(heard, func(e StoredEntry) bool { return !same(e) || s.has(e.ID) })
}

// letIn lets in messages that match and wait in the store, and haven't been named yet: after a restart they come one by one.
func (s *Stream) letIn(a Address, match func(StoredEntry) bool) error {
	waiting, err := s.m.cfg.Store.Waiting(s.m.turns, a)
	for _, e := range waiting {
		if e.State == EntryOpen && match(e) && !s.has(e.ID) {
			s.waiting = append(s.waiting, e)
		}
	}
	return err
}

// settling tells how long more members of a group may still come.
func (s *Stream) settling(members []StoredEntry) (wait time.Duration) {
	now := time.Now()
	for _, e := range members {
		s.noteGroup(e)
		wait = max(wait, s.settles[e.ID].Sub(now))
	}
	return wait
}

// noteGroup notes, for a message that has just been seen, until when it lets its group wait: in the middle of another turn, too, so that
// what waited behind that needn't wait again.
func (s *Stream) noteGroup(e StoredEntry) {
	if s.settles == nil {
		s.settles = map[EntryID]time.Time{}
	}
	if _, ok := s.settles[e.ID]; !ok && e.Inbound.Group != "" {
		s.settles[e.ID] = settledAt(time.Now(), e.Inbound)
	}
}

// settledAt is until when a message that came now lets its group wait: counted from when it was written, but, should a clock be wrong,
// no longer than from now. One that is itself late, after a restart or an outage, counts from now: so may the others be. It is a time of
// this process's own clock, which nobody sets.
func settledAt(now time.Time, in Inbound) time.Time {
	settle := min(in.SettleFor, maxSettleFor)
	if age := now.Sub(in.At); age > 0 && age < settle {
		settle -= age
	}
	return now.Add(settle)
}

// inOrder sorts messages as they were written, but puts a comment behind the forwards that it belongs to: people write it first and
// mean it last.
func inOrder(entries []StoredEntry) {
	slices.SortStableFunc(entries, func(a, b StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
	for len(entries) > 0 {
		n := 1
		for entries[0].Inbound.Group != "" && n < len(entries) && sameGroup(entries[0], entries[n]) {
			n++
		}
		slices.SortStableFunc(entries[:n], func(a, b StoredEntry) int {
			switch x, y := forwards(a.Inbound), forwards(b.Inbound); {
			case x == y:
				return 0
			case x:
				return -1
			default:
				return 1
			}
		})
		entries = entries[n:]
	}
}

// sameGroup reports whether two messages belong to one group: of one author, at one address.
func sameGroup(a, b StoredEntry) bool {
	return a.ID.Address == b.ID.Address && a.Inbound.Group == b.Inbound.Group && a.Inbound.Author.ID == b.Inbound.Author.ID
}
