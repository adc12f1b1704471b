package session

import (
	"context"
	"slices"
)

// unlink ends the links of the command's address. One that has joined leaves; from where others have joined, all of them do. Whoever
// leaves has the conversation again that it had before, where something is left of that.
func (s *Stream) unlink(j *job, eff Effect) error {
	all := append([]Address{j.addr}, s.others(j.addr)...)
	was, err := s.bindings(all)
	if err != nil {
		return err
	}
	leaving := slices.DeleteFunc(slices.Clone(all), func(a Address) bool { return was[a].Binding.Own == nil })
	if was[j.addr].Binding.Own != nil {
		leaving = []Address{j.addr}
	}
	if len(leaving) == 0 {
		return s.notice(j, replying(eff.Say(Outcome{})))
	}
	next := map[Address]Binding{}
	for _, a := range leaving {
		if next[a], err = s.parting(a, was[a], j.first().ID); err != nil {
			return err
		}
	}
	e := replying(eff.Say(Outcome{Done: true}))
	e.lead = s.tellOthers(j.addr, partingText(len(all)-len(leaving)))
	e.with = func(b *Batch) {
		for _, a := range leaving {
			n := next[a]
			n.Before = append(was[a].unserved(), was[a].leg(b.State.Last))
			b.rebind(a, was[a].BindingRev, n)
		}
	}
	if err := s.passOver(j, leaving); err != nil {
		return err
	}
	if err := s.notice(j, e); err != nil {
		return err
	}
	for _, a := range leaving {
		delete(s.live.places, a)
		s.handOver(a, next[a].Thread)
	}
	return nil
}

// partingText is what the others are told, where so many places stay.
func partingText(stay int) string {
	if stay > 1 {
		return "This chat has left the conversation; others still share it."
	}
	return "The link between these places has ended."
}

// parting is the binding of an address that goes back to what it had before it was linked, or to a fresh conversation.
func (s *Stream) parting(a Address, st AddressState, by EntryID) (Binding, error) {
	own := st.Binding.Own
	next := Binding{Thread: own.Thread, From: 1, Back: own.Back, Left: own.Left, MovedTo: st.Binding.MovedTo, Gone: st.Binding.Gone && a != by.Address,
		Leg: st.Binding.Leg + 1}
	t, _, ok, err := s.m.cfg.Store.Thread(context.Background(), own.Thread)
	switch {
	case err != nil:
		return next, &storeError{err}
	case ok:
		next.From = t.Last + 1
	default:
		next.Thread = ThreadOf(EntryID{Address: a, Key: "unlink/" + by.String()})
	}
	return next, nil
}
