package session

import (
	"context"
	"errors"
	"time"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// compactAfter is how long a thread is quiet before its older turns are summarised: who writes on at once isn't slowed down by it.
const compactAfter = 3 * time.Second

// compactMost is how long a summary may take that nobody waits for: a slow machine needs minutes, a model that never ends would hold its
// place for ever.
const compactMost = 30 * time.Minute

// errCalled is why a summary is given up: somebody has written.
var errCalled = errors.New("session: somebody has written")

// compactIdle summarises older turns, where that is due, while nothing waits here and a call to the model is free. A message that
// comes in meanwhile ends it: then the prompt is cut, and a summary is made after the next answer. Nothing is written before the
// summary is complete, so that a life that ends meanwhile leaves no trace.
func (s *Stream) compactIdle() {
	for s.live != nil && s.live.broken == nil && s.m.cfg.CompactAt > 0 && len(s.waiting)+len(s.signals) == 0 {
		path := s.live.turns()
		x := s.extent(s.window, path)
		s.live.path = nil
		size := x.fixed + budget.EstimateAll(path)
		c := choose(path, x, false)
		if c == nil || s.rests(size, s.window) {
			return
		}
		a := s.asking(c)
		if err := s.compactNow(a); err != nil {
			if err := s.notCompacted(a, err, size); err != nil {
				s.lose(err, nil)
			}
			return
		}
	}
}

// compactNow waits for a while, has the summary made and commits it.
func (s *Stream) compactNow(a asked) error {
	person := s.lastAsker()
	var t ledger.Turn
	err := s.untilCalled(func(ctx context.Context) (err error) {
		if err := sleep(ctx, compactAfter); err != nil {
			return err
		}
		ctx, end := context.WithTimeout(ctx, compactMost)
		defer end()
		t, err = s.m.summarise(ctx, a, spare{s.m.model})
		return err
	})
	s.countTokens(t)
	if err != nil {
		s.owe(person, t)
		return err
	}
	return s.keep(t, person)
}

// keep puts a summary on the log, in a Batch of its own.
func (s *Stream) keep(t ledger.Turn, person string) error {
	t = s.stamp(t)
	b := s.batch(turnRecord(t))
	if err := s.charge(&b, person, tokensOf(t)); err != nil {
		return err
	}
	if err := s.commit(b); err != nil {
		return err
	}
	s.compacted(t)
	return nil
}

func (s *Stream) compacted(t ledger.Turn) {
	s.counts, s.failedAt = promptCount{}, 0
	s.m.cfg.Logger.Info("older turns summarised", observe.KeyThread, s.thread.String(), observe.KeySeq, t.ID.Seq, "covers", t.Covers)
}

// rests reports whether the next try to make a summary has to wait until the conversation has grown, or has another model: the last one
// has failed.
func (s *Stream) rests(size, window int) bool {
	return s.failedAt > 0 && s.failedOn == s.model() && size < s.failedAt+max(window/8, s.failedAt/4)
}

// notCompacted notes why there is no summary. Where the server has found it too long, the next one is asked for of less.
// What is left is an error of the store.
func (s *Stream) notCompacted(a asked, err error, size int) error {
	var st *storeError
	switch {
	case errors.As(err, &st):
		return err
	case errors.Is(err, errCalled), errors.Is(err, errNoSpare), s.m.spare.Err() != nil:
		s.m.cfg.Logger.Debug("summary put off", observe.KeyThread, s.thread.String(), observe.KeyError, err)
	default:
		if fit := s.fit(); provider.KindOf(err) == provider.KindTooLong {
			fit.Scale = budget.Refused(fit.Scale, fit.Fixed+budget.EstimateAll(a.c.turns), a.c.window)
			s.live.state.Fit = fit
		}
		s.failedAt, s.failedOn = size, s.model()
		s.m.cfg.Logger.Warn("summary thrown away", observe.KeyThread, s.thread.String(), observe.KeyError, err)
	}
	return nil
}

// extent is what a compaction of a path is measured by, with the model's window. What the transforms add, such as who speaks, counts.
func (s *Stream) extent(window int, path []ledger.Turn) extent {
	x := extent{window: window, at: s.m.cfg.CompactAt, fixed: s.live.state.Fit.Fixed, scale: s.fit().Scale}
	_ = guarded(func() error { // a turn says what is wrong with a transform
		ctx, st := context.WithValue(s.m.turns, systemKey{}, s.setting(SettingSystem)), ledger.NewView(nil, path)
		for _, t := range s.m.cfg.Transform {
			var err error
			if st, err = t.Transform(ctx, st); err != nil || st == nil {
				return err
			}
		}
		x.fixed = max(budget.EstimateAll(st.Turns())-budget.EstimateAll(path), 0) + s.plan().Extra
		return nil
	})
	return x
}

// used is about what a path takes in a prompt, with all that is always there.
func (s *Stream) used(path []ledger.Turn) int {
	x := s.extent(0, path)
	return x.tokens(x.fixed + budget.EstimateAll(path))
}

// windowNow returns how to ask, away from the worker, what the conversation's model reads.
func (s *Stream) windowNow() func(ctx context.Context) int {
	m, spec, narrowed := s.m, s.spec(), s.fit().Window
	return func(ctx context.Context) int {
		n := m.window(ctx, spec)
		if narrowed > 0 && (n == 0 || narrowed < n) {
			return narrowed
		}
		return n
	}
}

func (s *Stream) asking(c *compaction) asked {
	return asked{c: c, spec: s.spec(), system: s.setting(SettingSystem)}
}

// untilCalled runs f apart from the worker. Its context ends when somebody writes, or when the Manager stops.
func (s *Stream) untilCalled(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(s.m.spare)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- guarded(func() error { return f(ctx) }) }()
	for {
		if s.called() {
			cancel(errCalled)
		}
		select {
		case err := <-done:
			if cause := context.Cause(ctx); err != nil && cause != nil {
				return cause
			}
			return err
		case <-s.bell:
		}
	}
}

// called reports whether something has come in.
func (s *Stream) called() bool {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return len(s.inbox) > 0
}

// compact summarises older turns because somebody wants it, whether or not they fit.
func (s *Stream) compact(j *job, eff Effect) error {
	t, found, err := s.summaryFor(j)
	s.countTokens(t)
	if err != nil {
		s.owe(j.payer(), t)
	}
	switch {
	case s.m.turns.Err() != nil:
		return errShutdown
	case errors.Is(err, errOutdated): // the command is carried out anew, behind what was changed
		j.remade++
		return errChanged
	case err != nil:
		s.log(j).Warn("summary thrown away", observe.KeyError, err)
		return s.notice(j, replying(eff.Say(Outcome{Failed: true})))
	case !found:
		return s.notice(j, replying(eff.Say(Outcome{})))
	}
	return s.keepFor(j, t, eff)
}

// summaryFor has the summary made that a job asks for, beside the worker; found says whether there is anything to summarise.
func (s *Stream) summaryFor(j *job) (t ledger.Turn, found bool, err error) {
	ctx, cancel := context.WithCancelCause(withChanges(withCaller(s.m.turns, j.first().Inbound.Author.ID), j))
	defer cancel(nil)
	j.cancel = cancel
	path, a := s.live.turns(), s.asking(nil)
	x := s.extent(s.window, path)
	err = s.apart(j, func() (err error) {
		if x.window == 0 {
			x.window = s.m.window(ctx, a.spec)
		}
		if x.at == 0 {
			x.at = 1
		}
		if a.c = choose(path, x, true); a.c != nil {
			t, err = s.m.summarise(ctx, a, s.m.model)
		}
		return err
	})
	return t, a.c != nil, err
}

// keepFor puts a summary on the log in the Batch that ends the job which asked for it.
func (s *Stream) keepFor(j *job, t ledger.Turn, eff Effect) error {
	t = s.stamp(t)
	e := replying(eff.Say(Outcome{Done: true}))
	e.lead, e.cost = []LogRecord{turnRecord(t)}, tokensOf(t)
	e.with = func(b *Batch) { b.State.Fit.Told = true }
	if err := s.notice(j, e); err != nil {
		return err
	}
	s.compacted(t)
	return nil
}
