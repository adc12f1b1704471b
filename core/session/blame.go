package session

import (
	"context"
	"errors"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/provider"
)

// A question at which the model's server breaks down each time, or which it refuses, would do so again beneath every message that
// follows: it is set aside. One that only met a server in trouble is kept. No text of an error tells the two apart, so it is tried: where
// the same model answers something harmless right behind the failure, the failure is the question's.

// Others may have broken off because of it: what crashes a model's runner ends every answer that this makes. So those that broke off are
// tried one after the other, each alone for longer than it took to break off, and only what breaks off alone is to blame. What has
// outlived that goes on beside the next.

// Limits of a trial.
const (
	trialMargin = 2 * time.Second
	trialMost   = 90 * time.Second
	maxBroken   = 5 // times that a question may break off at all
)

// charge is what speaks against a question.
type charge struct {
	began  time.Time     // the attempt under way
	took   time.Duration // until the last one broke off
	broken int           // how often one did
	spoilt int           // how often an answer came to nothing, those included
	alone  *time.Timer   // ends its time alone; nil: it has none
	end    func()        // gives that time to the next
}

// attempted begins an attempt.
func (c *charge) attempted() { c.began = time.Now() }

// stay ends the limit of the time alone, and reports whether it wasn't over: then it lasts until rest.
func (c *charge) stay() bool { return c.alone != nil && c.alone.Stop() }

// rest lets the next question be tried.
func (c *charge) rest(alone bool) {
	c.alone = nil
	if alone {
		c.end()
	}
}

// spoil counts an answer that came to nothing, and reports whether another attempt is worth it.
func (c *charge) spoil(kind provider.Kind, alone bool) (again bool) {
	c.spoilt++
	if kind != provider.KindIncomplete {
		return c.spoilt < 2
	}
	c.broken++
	c.took = time.Since(c.began)
	return c.spoilt < 2 || !alone && c.broken == c.spoilt && c.broken < maxBroken
}

// stand waits until a question that was broken off may be asked again while no other such question is. It returns the cause for which
// ctx ended.
func (s *Stream) stand(ctx context.Context, j *job) error {
	if j.charge.broken == 0 {
		return nil
	}
	if err := s.apart(j, func() error { return s.m.trials.Acquire(ctx, 1) }); err != nil {
		return context.Cause(ctx)
	}
	c := &j.charge
	c.end = func() { s.m.trials.Release(1) }
	c.alone = time.AfterFunc(min(c.took*3/2+trialMargin, trialMost), c.end)
	return nil
}

// giveUp ends a job's messages after a failure of the model that isn't tried again.
func (s *Stream) giveUp(ctx context.Context, j *job, err error, try int, begin time.Time) (over bool, left error) {
	kind := provider.KindOf(err)
	s.log(j).Error(modelTrouble(kind), observe.KeyError, err, observe.KeyAttempt, try)
	e := ending{how: EndNoticed, aside: kind == provider.KindTooLong || kind == provider.KindTooBig, offers: offersAfter(kind)}
	e.sev, e.text = s.explain(err, kind, time.Since(begin), j.addr)
	if kind == provider.KindRefused || kind == provider.KindIncomplete && j.charge.broken > 1 {
		trouble := s.control(ctx, j, kind, begin)
		if cause := context.Cause(ctx); cause != nil {
			return s.failed(ctx, j, cause, try, begin)
		}
		s.tried(j, &e, kind, trouble, time.Since(begin))
	}
	return true, s.notice(j, e)
}

// tried changes how a failure ends after the control: trouble is what that met, nil where the model answered.
func (s *Stream) tried(j *job, e *ending, kind provider.Kind, trouble error, after time.Duration) {
	common := provider.KindOf(trouble)
	switch {
	case trouble == nil || kind == provider.KindRefused && common != kind:
		s.log(j).Warn("question set aside", observe.KeySeq, j.turn)
		e.aside, e.offers = true, []string{"retry"}
		if kind == provider.KindIncomplete {
			e.text += " " + asideText
		}
	case kind == provider.KindRefused:
		e.text = "The model server refuses whatever I ask. Your message is kept; the operator has to look at its log."
		e.offers = []string{"retry"}
	case passes(common):
		e.sev, e.text = s.explain(trouble, common, after, j.addr)
	}
}

// asideText says what becomes of a question at which the model broke down.
const asideText = "I've set your message aside, so that the next one works."

// passes reports whether trouble may go away by itself.
func passes(k provider.Kind) bool {
	return k == provider.KindUnreachable || k == provider.KindBusy || k == provider.KindTimeout
}

// control asks the conversation's model something harmless and returns the trouble that this meets; nil where it answers. Where the last
// failure broke the server itself, it is given the usual time to come back.
func (s *Stream) control(ctx context.Context, j *job, kind provider.Kind, begin time.Time) error {
	a := s.asking(nil)
	for try := 0; ; try++ {
		var t ledger.Turn
		err := s.apart(j, func() (err error) {
			t, err = s.m.harmless(ctx, a)
			return err
		})
		s.countTokens(t)
		s.owe(j.payer(), t)
		switch k := provider.KindOf(err); {
		case err == nil, k == provider.KindEmpty, k == provider.KindRepeats: // it speaks
			return nil
		case kind == provider.KindRefused || !passes(k):
			return err
		}
		wait := backoff(try)
		if pe, ok := errors.AsType[*provider.Error](err); ok {
			wait = max(wait, pe.After)
		}
		if time.Since(begin)+wait > s.m.cfg.RetryFor || s.pause(ctx, j, wait) != nil {
			return err
		}
	}
}

// Harmless is the question whose answer shows that the model works.
const Harmless = "Say OK."

// harmless asks for a word or two, with nothing of a conversation.
func (m *Manager) harmless(ctx context.Context, a asked) (ledger.Turn, error) {
	step := loop.New(loop.WithDefaultSpec(m.cfg.Spec))
	defer func() { _ = step.Close() }()
	a.spec.MaxTokens, a.spec.Think, a.spec.NumCtx = 8, "off", m.window(ctx, a.spec)
	q := ledger.Turn{Role: ledger.RoleUser, Artifacts: []artifact.Artifact{artifact.Text{Content: Harmless}}}
	out, err := step.Turn(ctx, ledger.NewView(nil, []ledger.Turn{q}), a.spec, m.model)
	if err != nil {
		return ledger.Turn{}, err
	}
	turns := out.Turns()
	return turns[len(turns)-1], nil
}
