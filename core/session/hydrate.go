package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// live is a thread's state in memory while its Stream lives.
type live struct {
	led    *ledger.Thread
	path   []ledger.Turn // the active one, while a job asks for it; nil: not walked yet
	size   int           // the weight of the turns in led
	state  Thread
	places map[Address]*served
	step   *loop.Step
	spent  spent             // what was added last to a person's usage
	owed   map[string]Tokens // by person: of calls whose answers weren't kept, not charged yet
	aside  ledger.Seq        // the question that was set aside last, while nothing else has been asked
	broken error             // the log can't be decoded: no turns, only end records
	job    *job              // the one whose turns are being appended

	recalled bool // the edits and deletions that waited in the store then have been let in
}

// served is what the worker knows of an address bound to its thread.
type served struct {
	last ledger.Seq // the newest record that is to be shown there
	open bool       // its link isn't one of private chats alone
}

// logPage is how many log records are read at once.
const logPage = 256

// hydrate loads the thread where it isn't live: its state, its window of the log and its bindings.
func (s *Stream) hydrate(ctx context.Context) error {
	if s.live != nil {
		return nil
	}
	l := &live{led: ledger.NewThread(s.thread), places: map[Address]*served{}}
	state, _, ok, err := s.m.cfg.Store.Thread(ctx, s.thread)
	if err != nil {
		return fmt.Errorf("session: thread %s: %w", s.thread, err)
	}
	if ok {
		l.state = state
		if err := s.load(ctx, l); err != nil {
			return err
		}
	} else {
		l.state.Opened = time.Now().UTC()
	}
	l.step = s.newStep()
	s.live = l
	return nil
}

// load reads the window and the bindings. A log that can't be decoded leaves the thread broken, not the process.
func (s *Stream) load(ctx context.Context, l *live) error {
	err := s.loadLog(ctx, l)
	var corrupt *CorruptError
	switch {
	case errors.As(err, &corrupt):
		l.broken = err
	case err != nil:
		return err
	}
	here := l.state.Addresses
	l.state.Addresses = nil
	return s.seat(ctx, l, here)
}

// seat takes down those of some addresses that are bound to this thread now: what was bound once may have gone elsewhere since.
func (s *Stream) seat(ctx context.Context, l *live, as []Address) error {
	for _, a := range as {
		if l.places[a] != nil {
			continue
		}
		st, err := s.m.cfg.Store.Address(ctx, a)
		if err != nil {
			return fmt.Errorf("session: address %s: %w", a, err)
		}
		if st.BindingRev != (Revision{}) && st.Binding.Thread == s.thread && !st.Binding.Joining {
			l.places[a] = st.served()
			l.state.Addresses = append(l.state.Addresses, a)
		}
	}
	return nil
}

// served is what a worker takes down of an address.
func (st AddressState) served() *served {
	p := &served{open: st.Binding.Own != nil && st.Binding.Own.Open}
	if st.Cursor.Leg == st.Binding.Leg {
		p.last = st.Due
	}
	return p
}

func (s *Stream) loadLog(ctx context.Context, l *live) error {
	for from := max(l.state.Window, 1); from <= l.state.Last; {
		recs, err := s.m.cfg.Store.Log(ctx, s.thread, from, logPage)
		if err != nil {
			return err
		}
		if len(recs) == 0 {
			return &CorruptError{Thread: s.thread, Seq: from, Err: errors.New("the record is missing")}
		}
		for _, r := range recs {
			if err := l.apply(r); err != nil {
				return &CorruptError{Thread: s.thread, Seq: r.Seq, Err: err}
			}
			from = r.Seq + 1
		}
	}
	if err := l.led.SetTip(l.state.Tip); err != nil {
		return &CorruptError{Thread: s.thread, Seq: l.state.Tip, Err: err}
	}
	return s.loadBase(ctx, l)
}

// loadBase reads the summary that stands for what lies before the window.
func (s *Stream) loadBase(ctx context.Context, l *live) error {
	seq := l.state.Base
	if seq == 0 {
		return nil
	}
	recs, err := s.m.cfg.Store.Log(ctx, s.thread, seq, 1)
	switch {
	case err != nil:
		return err
	case len(recs) == 0 || recs[0].Seq != seq || recs[0].Turn == nil:
		return &CorruptError{Thread: s.thread, Seq: seq, Err: errors.New("the summary is missing")}
	}
	l.led.SetBase(*recs[0].Turn)
	return nil
}

// apply lets a record of the log take its effect on what is in memory. Kinds that a later version writes have none here.
func (l *live) apply(r LogRecord) error {
	switch r.Kind {
	case KindTurn:
		if r.Turn.Role == ledger.RoleUser {
			l.aside = 0
		}
		return l.add(*r.Turn)
	case KindTip:
		l.path, l.aside = nil, r.Tip.Aside
		if r.Tip.To != 0 && r.Tip.To < l.state.Window {
			return nil // a branch that the window doesn't hold, and that a later record has left
		}
		return l.led.SetTip(r.Tip.To)
	case KindAmendment:
		arts, err := r.Amendment.Decode()
		if err == nil {
			l.amend(r.Amendment.Turn, arts, r.Amendment.Parts)
		}
		return err
	case KindFinal:
		l.path = nil
		l.led.Promote(r.Final.Turn)
		return nil
	default:
		return nil
	}
}

func (s *Stream) newStep() *loop.Step {
	opts := []loop.Option{
		loop.WithState(boundState{s}),
		loop.WithDefaultSpec(s.m.cfg.Spec),
		loop.WithTransforms(append([]loop.Transform{room{s}}, s.m.cfg.Transform...)...),
		loop.WithHandlers(s.m.cfg.Handlers...),
		loop.WithInvokeOptions(s.m.cfg.Invoke...),
		loop.WithOnEmit(s.dispatch),
	}
	if s.m.cfg.Tracer != nil {
		opts = append(opts, loop.WithTracer(s.m.cfg.Tracer))
	}
	return loop.New(opts...)
}

// dispatch hands an event to the listeners: a notice for the address in its context, anything else for each address bound here.
func (s *Stream) dispatch(_ context.Context, ev loop.OutputEvent) {
	if !s.m.wanted(ev.Kind()) {
		return
	}
	if ev.Kind() == "notice" {
		if a, ok := loop.ProvenanceFrom(ev.Context()); ok {
			s.m.tell(Address(a), ev)
		}
		return
	}
	var bound []Address
	s.own(func() { bound = slices.Collect(maps.Keys(s.live.places)) })
	for _, a := range bound {
		s.m.tell(a, ev)
	}
}
