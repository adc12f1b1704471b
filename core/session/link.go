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

// meet takes down which addresses came into this thread together with the job's, where the first message of that is at hand. A job of an
// address that isn't taken in yet is put off: the message of the link goes first.
func (s *Stream) meet(j *job) (later bool, err error) {
	if s.live.places[j.addr] != nil || j.first().Join != nil {
		return false, nil
	}
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	switch {
	case err != nil:
		return false, &storeError{err}
	case st.Binding.Thread != s.thread:
		return false, nil
	case st.Binding.Joining:
		return true, s.linkFirst(j, st)
	case s.live.broken != nil:
		return false, nil
	}
	others := slices.DeleteFunc(slices.Clone(st.Binding.With), func(o Address) bool { return o == j.addr })
	return false, s.seat(s.m.turns, s.live, others)
}

// linkFirst puts a job back behind the message with which its address joins this conversation. After a restart, what has no place in the
// order of messages comes first, such as a line of the operator's. Where no such message waits, the address has its own conversation back.
func (s *Stream) linkFirst(j *job, st AddressState) error {
	if err := s.letIn(j.addr, func(e StoredEntry) bool { return e.Join != nil }); err != nil {
		return &storeError{err}
	}
	if !s.joining(j.addr) {
		return s.giveBack(j, st)
	}
	s.waiting = append(slices.Clone(j.entries), s.waiting...)
	return nil
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
	if s.live == nil {
		return
	}
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
	case len(s.live.places) >= MaxLinked && s.live.places[j.addr] == nil:
		return s.misjoin(j, tooManyLinked)
	case with.Binding.Thread != s.thread || s.live.broken != nil:
		return s.misjoin(j, notLinked)
	}
	// The place of the code may have tried to join another conversation meanwhile, and have this one back: it must miss nothing.
	if err := s.seat(s.m.turns, s.live, []Address{j.first().Join.With}); err != nil {
		return &storeError{err}
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

// tooManyLinked is said where a conversation is shown at as many places as can share one.
const tooManyLinked = "That conversation is shown at eight places already. Once one of them has left it with `unlink`, ask for a new code there."

// misjoin gives an address its own conversation back, because it can't join the other one; it is told why, there.
func (s *Stream) misjoin(j *job, why string) error {
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	if err != nil {
		return &storeError{err}
	}
	if !st.joins(s.thread) {
		return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: why})
	}
	j.first().Join, j.first().Notice = nil, why
	return s.giveBack(j, st)
}

// joins reports whether an address waits to be taken into a conversation.
func (st AddressState) joins(thread ledger.ThreadID) bool {
	return st.Binding.Own != nil && st.Binding.Joining && st.Binding.Thread == thread
}

// giveBack binds an address that isn't taken in yet to its own conversation again, whose worker goes on with the job.
func (s *Stream) giveBack(j *job, st AddressState) error {
	old := st.Binding
	next := Binding{Thread: old.Own.Thread, From: old.Own.From, Back: old.Own.Back, Left: old.Own.Left, MovedTo: old.MovedTo,
		Gone: old.Gone, Leg: old.Leg}
	if n := len(old.Before); n > 0 {
		next.Leg, next.Before = old.Leg-1, old.Before[:n-1]
	}
	b := Batch{ID: NewBatchID(), Thread: s.thread}
	b.Bindings = []BindingWrite{{Address: j.addr, Rev: st.BindingRev, Binding: next}}
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
