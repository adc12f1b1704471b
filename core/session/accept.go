package session

import (
	"context"
	"errors"
	"time"

	"orebot/core/access"
	"orebot/core/observe"
)

// Reasons for ignoring a message, metric labels.
const (
	IgnoredPlatform = "platform"
	IgnoredAmbient  = "ambient"
	IgnoredSignal   = "signal"
	IgnoredInvalid  = "invalid"
	IgnoredBot      = "bot"
	IgnoredFlood    = "flood" // from people who are refused, beyond what is written down of them
)

// place is what Accept knows of an address: whether there is a conversation, and who writes in it.
type place struct {
	known  bool   // there is a conversation
	writer string // its only writer, while shared is false
	shared bool
	muted  bool // answered is only who calls
	used   time.Time
}

// Accept makes a message durable: addressed to the bot, it will come to its end; ambient talk in a conversation is heard; the
// rest is ignored. It never calls the network and doesn't wait for the disk: done runs once, after the commit, or at once where
// nothing is stored, and must not block.
func (m *Manager) Accept(ctx context.Context, in Inbound, done func(Receipt)) {
	e, ignored, err := m.judge(ctx, in)
	switch {
	case err != nil:
		done(Receipt{Err: err})
	case ignored != "":
		m.cfg.Counters.Add(observe.Ignored, 1, in.Address.Conduit(), ignored)
		done(Receipt{Ignored: ignored})
	default:
		undo := m.limit(&e)
		m.store(ctx, e, undo, done)
	}
}

// judge decides what becomes of a message: an entry to store, or the reason to ignore it.
func (m *Manager) judge(ctx context.Context, in Inbound) (e Entry, ignored string, err error) {
	p, ok := m.cfg.Platforms[in.Address.Conduit()]
	switch {
	case !in.valid():
		return Entry{}, IgnoredInvalid, nil
	case !ok:
		return Entry{}, IgnoredPlatform, nil
	case in.Signal == SignalEdit || in.Signal == SignalDelete:
		return m.judgeSignal(ctx, in, p)
	case in.Signal == SignalButton: // as if its command had been written
		in.Text, in.Call = "/"+in.Action, CallCommand
	}
	if !in.Author.Bot {
		m.bots.loops(in) // a new row
	}
	state, err := m.addressed(ctx, in, p.Follow)
	loose := err == nil && state == EntryEnded && in.Group != "" && !in.Elsewhere
	if loose { // another member of its group may call the bot
		state = EntryHeard
	}
	if err != nil || state == EntryEnded {
		return Entry{}, IgnoredAmbient, err
	}
	if told, err := m.toldAbove(ctx, in); told || err != nil {
		return Entry{}, IgnoredAmbient, err
	}
	in.Followed = state == EntryOpen && in.Call == CallAmbient
	e = Entry{ID: in.ID(), Inbound: in, State: state, Loose: loose}
	if ignored := m.admit(&e, p.Policy); ignored != "" {
		return Entry{}, ignored, nil
	}
	if !e.Inbound.fits() || m.tooBig(e.Inbound) {
		e.Inbound, e.Oversize, e.Size = in.without(), true, len(in.Text)
	}
	if loose {
		return e, "", nil
	}
	return e, "", m.notePlace(ctx, in, e.Refusal != "")
}

// toldAbove reports whether the platform has told of a message already, as one that stands above a question: it is context once. Such a message
// was nobody's when it came, and comes again.
func (m *Manager) toldAbove(ctx context.Context, in Inbound) (bool, error) {
	if in.Message == "" || in.Call != CallAmbient {
		return false, nil
	}
	if _, told, err := m.cfg.Store.Message(ctx, in.Address, in.Message); !told || err != nil {
		return false, err
	}
	_, known, err := m.cfg.Store.Entry(ctx, in.ID())
	return !known, err
}

// admit asks who may talk to the bot. A message of somebody who is refused is kept unread, with the refusal; one that isn't even answered
// with that has a reason to be ignored.
func (m *Manager) admit(e *Entry, policy access.Policy) (ignored string) {
	in := e.Inbound
	switch v := policy.Decide(person(in.Author), in.Place); v.Outcome {
	case access.Ignore:
		return IgnoredBot
	case access.Refuse:
		if e.State == EntryHeard {
			return IgnoredAmbient // whoever may not speak isn't listened to
		}
		if !m.knocks.Heard(in.Author.ID, time.Now()) {
			return IgnoredFlood
		}
		e.Refusal, e.Inbound = v.Text, in.unread()
	case access.Allow, access.Ask:
		if e.State == EntryOpen && in.Author.Bot && m.loopsOn(in) {
			return IgnoredLoop
		}
	}
	return ""
}

// addressed tells whether a message is for the bot (open), overheard in a conversation (heard) or neither (ended).
func (m *Manager) addressed(ctx context.Context, in Inbound, follow bool) (EntryState, error) {
	if in.Call == CallDirect || in.Call != CallAmbient && !in.Elsewhere {
		return EntryOpen, nil
	}
	if _, _, ok := m.parse(in); ok {
		return EntryOpen, nil
	}
	p, err := m.placeOf(ctx, in.Address)
	switch {
	case err != nil:
		return 0, err
	case !p.known:
		return EntryEnded, nil
	case follow && !p.muted && !in.Elsewhere && !p.shared && p.writer == in.Author.ID:
		return EntryOpen, nil
	default:
		return EntryHeard, nil
	}
}

func person(a Author) access.Person {
	return access.Person{ID: a.ID, Bot: a.Bot, Guest: a.Guest, External: a.External, Known: a.Known}
}

// placeOf returns what is known of an address, from the store where it isn't in memory.
func (m *Manager) placeOf(ctx context.Context, a Address) (place, error) {
	m.mu.Lock()
	p := m.places[a]
	if p != nil {
		defer m.mu.Unlock()
		return *p, nil
	}
	m.mu.Unlock()
	fresh, err := m.loadPlace(ctx, a)
	if err != nil {
		return place{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.places[a]; p != nil {
		return *p, nil
	}
	if fresh.known {
		m.places[a] = &fresh
	}
	return fresh, nil
}

// loadPlace reads who has written at an address: from its thread, and from the entries that may not have reached it yet.
func (m *Manager) loadPlace(ctx context.Context, a Address) (place, error) {
	p := place{used: time.Now()}
	st, err := m.cfg.Store.Address(ctx, a)
	if err != nil {
		return place{}, err
	}
	if st.BindingRev != (Revision{}) {
		t, _, ok, err := m.cfg.Store.Thread(ctx, st.Binding.Thread)
		if err != nil {
			return place{}, err
		}
		if ok && t.Starter != "" { // it holds more than refusals
			p.known, p.writer, p.shared = true, t.Starter, t.Shared
			p.muted = t.Muted(a)
		}
	}
	entries, err := m.cfg.Store.EntriesAt(ctx, a, 100)
	for _, heard := range []bool{false, true} { // what was heard makes no conversation
		for _, e := range entries {
			if e.State.IsHeard() == heard && !e.State.IsSignal() && e.Notice == "" && (!heard || p.known) {
				p.note(e.Inbound.Author.ID, e.Refusal != "")
			}
		}
	}
	return p, err
}

// notePlace remembers that somebody wrote at an address where others may join in. It must know before the entry is durable: a
// follow-up may come within the same millisecond.
func (m *Manager) notePlace(ctx context.Context, in Inbound, refused bool) error {
	if in.Call == CallDirect {
		return nil
	}
	p, err := m.placeOf(ctx, in.Address)
	if err != nil {
		return err
	}
	p.used = time.Now()
	p.note(in.Author.ID, refused)
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.places[in.Address]; known != nil {
		known.used = p.used
		known.note(in.Author.ID, refused)
	} else if p.known {
		m.places[in.Address] = &p
	}
	return nil
}

// note takes down who has written. Somebody who is refused makes no conversation, but is a second person in one.
func (p *place) note(author string, refused bool) {
	if refused && !p.known {
		return
	}
	p.known = true
	if p.writer == "" {
		p.writer = author
	}
	p.shared = p.shared || p.writer != author
}

// store puts the entry if it is absent. A conflict means that it is there, and durable. undo is called where it isn't put.
func (m *Manager) store(ctx context.Context, e Entry, undo func(), done func(Receipt)) {
	b := Batch{ID: NewBatchID(), Entries: []EntryWrite{{Entry: e}}}
	if e.State == EntryHeard {
		b.Entries[0].Expires = time.Now().Add(m.cfg.KeepEntries)
	}
	m.cfg.Store.Commit(ctx, b, func(_ Result, err error) {
		var c *Conflict
		if err != nil && !applied(err) {
			undo()
		}
		switch {
		case errors.As(err, &c):
			m.cfg.Counters.Add(observe.Duplicates, 1, e.ID.Address.Conduit())
			done(Receipt{Duplicate: !c.Applied, Heard: e.State == EntryHeard})
		case errors.Is(err, ErrTooLarge): // it always will be; whatever the limit is, it must not come back for ever
			m.cfg.Counters.Add(observe.Ignored, 1, e.ID.Address.Conduit(), IgnoredInvalid)
			done(Receipt{Ignored: IgnoredInvalid})
		case err != nil:
			done(Receipt{Err: err})
		default:
			m.countAccepted(e)
			done(Receipt{Heard: e.State == EntryHeard})
		}
	})
}

// The outcomes under which heard messages and signals are counted, apart from the sum of received and ended ones.
const (
	Heard       = "heard"
	OutcomeSign = "signal"
)

func (m *Manager) countAccepted(e Entry) {
	outcome := observe.Received
	switch e.State {
	case EntryHeard:
		outcome = Heard
	case EntrySignal:
		outcome = OutcomeSign
	}
	m.cfg.Counters.Add(observe.Messages, 1, e.ID.Address.Conduit(), outcome)
}
