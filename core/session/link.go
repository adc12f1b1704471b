package session

import (
	"slices"
	"strings"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// MaxLinked is how many places can share a conversation.
const MaxLinked = 8

// Join says which conversation an address is to join. One Batch uses up the code, binds the address, whose worker that is, and keeps the
// Join with the message of the command; the conversation's own worker then takes the address in and ends the message, in a Batch of its
// log. Until then nothing of the conversation is shown there. A death between the two leaves a message that waits.
type Join struct {
	Thread ledger.ThreadID `json:"thread"`
	With   Address         `json:"with"`           // where the code was made
	Open   bool            `json:"open,omitempty"` // one of the two isn't a private chat
}

// PlatformName is how people call what addresses begin with.
func PlatformName(a Address) string {
	c := a.Conduit()
	if c == "" {
		return c
	}
	return strings.ToUpper(c[:1]) + c[1:]
}

// linked reports whether this conversation is shown elsewhere than at a, too.
func (s *Stream) linked(a Address) bool {
	for o := range s.live.places {
		if o != a {
			return true
		}
	}
	return false
}

// opened reports whether the conversation is linked to a place that isn't a private chat: then nobody owns it by being in theirs.
func (s *Stream) opened() bool {
	for _, p := range s.live.places {
		if p.open {
			return true
		}
	}
	return false
}

// meet takes down which addresses came into this thread together with a, where a's first message here is at hand.
func (s *Stream) meet(a Address) error {
	if s.live.places[a] != nil || s.live.broken != nil {
		return nil
	}
	st, err := s.m.cfg.Store.Address(s.m.turns, a)
	if err != nil {
		return &storeError{err}
	}
	if st.Binding.Thread != s.thread {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(st.Binding.With), func(o Address) bool { return o == a })
	return s.seat(s.m.turns, s.live, others)
}

// yields puts a job back where a question of another place was being answered when the process ended: that one is on the log already, and
// goes first. Of a single place, the feed names it first.
func (s *Stream) yields(j *job) (later bool, err error) {
	if j.turn != 0 || s.live.broken != nil || !s.linked(j.addr) {
		return false, nil
	}
	path := s.live.turns()
	i := len(path) - 1
	for i >= 0 && path[i].Role != ledger.RoleUser {
		i--
	}
	if i < 0 {
		return false, nil
	}
	var ids []EntryID
	for _, name := range path[i].Entries {
		if id, err := ParseEntryID(name); err == nil {
			ids = append(ids, id)
		}
	}
	n := len(s.waiting)
	if err := s.absorb(ids); err != nil || len(s.waiting) == n {
		return false, err
	}
	s.waiting = append(slices.Clone(j.entries), s.waiting...)
	return true, nil
}

// others returns where else this conversation is shown, in order.
func (s *Stream) others(a Address) (out []Address) {
	for o := range s.live.places {
		if o != a {
			out = append(out, o)
		}
	}
	slices.Sort(out)
	return out
}

// lineAt is an end record that ends nothing: a line for one place.
func (s *Stream) lineAt(a Address, text string) LogRecord {
	return LogRecord{Kind: KindEnd, End: &EndRecord{To: a, Severity: loop.SeverityInfo, Text: text, Time: time.Now().UTC()}}
}

// tellOthers is what the other places of a conversation are told of something that was done at one.
func (s *Stream) tellOthers(a Address, text string) (lines []LogRecord) {
	if text == "" {
		return nil
	}
	for _, o := range s.others(a) {
		lines = append(lines, s.lineAt(o, "On "+PlatformName(a)+": "+text))
	}
	return lines
}

// link binds the command's address to another place's conversation, whose worker goes on with its message, and with what waits behind it.
func (s *Stream) link(j *job, eff Effect) error {
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	switch bound := st.BindingRev != (Revision{}); {
	case err != nil:
		return &storeError{err}
	case bound && st.Binding.Thread != s.thread:
		return &storeError{&Conflict{What: "binding " + string(j.addr)}}
	case s.linked(j.addr) || st.Binding.Own != nil || eff.Join == nil || eff.Join.Thread == s.thread:
		return s.notice(j, replying(eff.Say(Outcome{})))
	}
	b := Batch{ID: NewBatchID(), Thread: s.thread, Small: eff.Small}
	next := st.joining(s.thread, s.live.state.Last, *eff.Join)
	b.Bindings = []BindingWrite{{Address: j.addr, Rev: st.BindingRev, Binding: next}}
	j.first().Join = eff.Join
	return s.sendOn(j, b, next.Thread)
}

// sendOn commits a Batch that binds the job's address to another thread, and lets that thread's worker go on with the job's message.
func (s *Stream) sendOn(j *job, b Batch, to ledger.ThreadID) error {
	for i := range j.entries {
		b.Entries = append(b.Entries, EntryWrite{Rev: j.entries[i].Rev, Entry: j.entries[i].Entry})
	}
	if err := s.put(b); err != nil {
		return err
	}
	s.release(j.addr)
	s.m.wakeIn(to, j.first().ID) // ahead of what waits behind it
	s.handOver(j.addr, to)
	return nil
}

// release forgets an address that is bound elsewhere now.
func (s *Stream) release(a Address) {
	delete(s.live.places, a)
	s.live.state.Addresses = slices.DeleteFunc(slices.Clone(s.live.state.Addresses), func(o Address) bool { return o == a })
}

// leg is what an address was shown of the thread that it is bound to, once it has seen the record last: nothing, where that is 0.
func (st AddressState) leg(last ledger.Seq) Leg {
	l := Leg{Thread: st.Binding.Thread, From: max(st.Binding.From, 1), Until: last, Guest: st.Binding.Own != nil}
	if last == 0 {
		l.From, l.Until = 2, 1
	}
	return l
}

// joining is the binding of an address that is to join another place's conversation. own is the thread that it leaves, up to last.
func (st AddressState) joining(own ledger.ThreadID, last ledger.Seq, to Join) Binding {
	old := st.Binding
	next := Binding{Thread: to.Thread, Joining: true, MovedTo: old.MovedTo,
		Own: &Own{Thread: own, From: max(old.From, 1), Back: old.Back, Left: old.Left, Open: to.Open}}
	if st.BindingRev != (Revision{}) {
		next.Leg, next.Before = old.Leg+1, append(st.unserved(), st.leg(last))
	}
	return next
}

// joining reports whether an address waits to be taken in: what is written there waits behind that, and has no rights here before.
func (s *Stream) joining(a Address) bool {
	return slices.ContainsFunc(s.waiting, func(e StoredEntry) bool { return e.Join != nil && e.ID.Address == a })
}

// join takes an address in whose code was used: its message ends with a line there, and the other places are told, too.
func (s *Stream) join(j *job) error {
	with, err := s.m.cfg.Store.Address(s.m.turns, j.first().Join.With)
	switch {
	case err != nil:
		return &storeError{err}
	case with.Binding.Thread != s.thread || s.live.broken != nil || len(s.live.places) >= MaxLinked:
		return s.misjoin(j)
	}
	s.named(j)
	p := s.m.prefix(j.addr)
	e := ending{how: EndNoticed, sev: loop.SeveritySuccess, text: "Linked with the conversation on " + PlatformName(j.first().Join.With) +
		". What is said at one place is shown at the other from now on. `" + p + "link history 5` shows what was said before, `" +
		p + "unlink` ends it."}
	who := speaker(j.first().Inbound.Author)
	for _, o := range s.others(j.addr) {
		e.lead = append(e.lead, s.lineAt(o, "Linked: "+who+" has joined this conversation from "+PlatformName(j.addr)+". `"+
			s.m.prefix(o)+"unlink` ends it."))
	}
	return s.notice(j, e)
}

// notLinked is said of a code that leads nowhere any more.
const notLinked = "That code isn't valid any more. Ask for a new one there."

// misjoin gives an address its own conversation back, because the one that it was to join isn't there any more; it is told so there.
func (s *Stream) misjoin(j *job) error {
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	if err != nil {
		return &storeError{err}
	}
	old := st.Binding
	if old.Own == nil || !old.Joining || old.Thread != s.thread {
		return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: notLinked})
	}
	next := Binding{Thread: old.Own.Thread, From: old.Own.From, Back: old.Own.Back, Left: old.Own.Left, MovedTo: old.MovedTo,
		Gone: old.Gone, Leg: old.Leg}
	if n := len(old.Before); n > 0 {
		next.Leg, next.Before = old.Leg-1, old.Before[:n-1]
	}
	b := Batch{ID: NewBatchID(), Thread: s.thread}
	b.Bindings = []BindingWrite{{Address: j.addr, Rev: st.BindingRev, Binding: next}}
	j.first().Join, j.first().Notice = nil, notLinked
	return s.sendOn(j, b, next.Thread)
}

// bindings reads where addresses stand.
func (s *Stream) bindings(as []Address) (map[Address]AddressState, error) {
	out := map[Address]AddressState{}
	for _, a := range as {
		st, err := s.m.cfg.Store.Address(s.m.turns, a)
		if err != nil {
			return nil, &storeError{err}
		}
		out[a] = st
	}
	return out, nil
}

// rebind makes a Batch bind an address to another thread than its own, whose state then no longer lists it.
func (b *Batch) rebind(a Address, rev Revision, next Binding) {
	b.Bindings = slices.DeleteFunc(b.Bindings, func(w BindingWrite) bool { return w.Address == a })
	b.Bindings = append(b.Bindings, BindingWrite{Address: a, Rev: rev, Binding: next})
	b.State.Addresses = slices.DeleteFunc(b.State.Addresses, func(o Address) bool { return o == a })
}
