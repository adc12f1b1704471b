package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"orebot/core/access"
	"orebot/core/loop"
	"orebot/core/observe"
)

// handle brings a job to its end: it is screened, then answered.
func (s *Stream) handle(j *job) error {
	defer func() { j.unsign() }()
	if j.first().Join != nil { // its code is used: there is no way back, for the operator either
		return s.join(j)
	}
	if s.m.isDropped(j.entries...) {
		return s.drop(j)
	}
	if line := j.first().Notice; line != "" {
		return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: line})
	}
	if s.live.broken != nil && !s.isCommand(*j.first()) {
		s.m.cfg.Logger.Error("thread unreadable", observe.KeyThread, s.thread.String(), observe.KeyError, s.live.broken)
		return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityError,
			text: "I can't read this conversation any more. Please go on in a new one."})
	}
	if err := s.recall(); err != nil {
		return err
	}
	if j.turn != 0 { // a turn that is resumed: something may have come since that belongs to it
		if over, err := s.settleChanges(j); over || err != nil {
			return err
		}
	} else if err := s.applyAll(j); err != nil || len(j.entries) == 0 {
		return err
	}
	for first := true; ; first = false {
		err := s.answer(j, first)
		if !errors.Is(err, errChanged) {
			return err
		}
		if over, err := s.settleChanges(j); over || err != nil {
			return err
		}
	}
}

// answer answers a job, or returns errChanged where one of its messages was edited or deleted before it could.
func (s *Stream) answer(j *job, first bool) error {
	ctx, cancel := context.WithCancelCause(s.m.turns)
	defer cancel(nil)
	if over, err := s.begin(ctx, j, cancel); over || err != nil {
		return err
	}
	if first {
		j.unsign = s.signing(j) // until handle returns: the sign of a turn that begins anew stays
		if over, err := s.overdue(j); over || err != nil {
			return err
		}
		if over, err := s.counted(j); over || err != nil {
			return err
		}
	}
	defer s.m.underWay(j, cancel)()
	if over, err := s.complete(ctx, j); over || err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		_, err := s.failed(ctx, j, err, 1, time.Now())
		return err
	}
	release, err := s.company(ctx, j)
	if err != nil {
		_, err := s.failed(ctx, j, err, 1, time.Now())
		return err
	}
	defer release()
	return s.converse(ctx, j)
}

// complete makes ready what a job's user turn says, or what has come late and is to be a part of it.
func (s *Stream) complete(ctx context.Context, j *job) (over bool, err error) {
	if over, err := s.settled(ctx, j); over || err != nil {
		return over, err
	}
	if j.turn == 0 {
		return s.gather(ctx, j)
	}
	return s.enlarge(ctx, j)
}

// begin looks at a job before anything is done for it: a new one is screened; before one that is resumed, a stop takes effect that was
// written while nobody ran.
func (s *Stream) begin(ctx context.Context, j *job, cancel context.CancelCauseFunc) (over bool, err error) {
	j.cancel = cancel
	if err := s.outgrow(j); err != nil {
		return false, err
	}
	if j.turn != 0 {
		if t, ok := s.live.led.Turn(j.turn); ok && len(t.Artifacts) == 0 {
			return true, s.takenBack(j)
		}
		return s.stopsFirst(j)
	}
	if over, err := s.screen(ctx, j); over || err != nil {
		return over, err
	}
	if j.turn == 0 {
		s.named(j)
	}
	return false, nil
}

// screen ends what isn't to be answered: refused, empty or too old messages.
func (s *Stream) screen(ctx context.Context, j *job) (over bool, err error) {
	v, err := s.verdict(ctx, j)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return s.failed(ctx, j, err, 1, time.Now())
	case err != nil:
		return false, err
	}
	in := j.last().Inbound
	say := func(text string) error {
		return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: text})
	}
	switch age := time.Since(in.At); {
	case v.Outcome == access.Refuse:
		return true, s.turnAway(j, v)
	case v.Outcome == access.Ignore: // a bot, as it turned out: a word to it could begin a loop
		return true, s.endSilently(j, EndRefused)
	case v.Outcome != access.Allow:
		return true, say("I couldn't find out who you are. Please ask again in a minute.")
	case j.first().Over != "":
		return true, s.over(j)
	case s.isCommand(*j.first()):
		if over, err := s.command(j); over || err != nil || j.turn != 0 {
			return over, err
		}
		return s.screen(ctx, j) // what stood behind it is a question
	case j.first().Oversize:
		return true, say(s.oversizeText(j.first().Entry))
	case s.nothing(j) && !callsBelow(j):
		return true, say(Greeting(in))
	case s.m.cfg.MaxAge > 0 && age > s.m.cfg.MaxAge && !in.At.IsZero():
		return true, s.tooLate(j, age)
	}
	return s.spendsTooMuch(j)
}

// nothing reports whether there is nothing in a job's messages to answer.
func (s *Stream) nothing(j *job) bool {
	return !slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return !empty(e.Inbound) })
}

// callsBelow reports whether messages that only call the bot stand below something that may be meant.
func callsBelow(j *job) bool {
	return slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return e.Inbound.Place != "" || len(e.Inbound.Quotes) > 0 })
}

// verdict decides about the author, and looks up whom Accept knew too little of.
func (s *Stream) verdict(ctx context.Context, j *job) (access.Verdict, error) {
	in := j.first().Inbound
	p := s.m.cfg.Platforms[j.addr.Conduit()]
	v := p.Policy.Decide(person(in.Author), in.Place)
	if text := j.first().Refusal; text != "" { // what Accept decided holds, whatever the policy says now
		v.Outcome, v.Text = access.Refuse, text
		return v, nil
	}
	if v.Outcome != access.Ask || p.People == nil {
		return v, nil
	}
	var who Author
	err := s.apart(j, func() (err error) {
		who, err = s.lookUp(ctx, j, p.People)
		return err
	})
	return p.Policy.Decide(person(who), in.Place), err
}

// lookUp asks the platform who somebody is, for as long as a model server would be tried. Nobody gets in unknown. The error is ctx's
// cause: a stop reaches who waits for an answer of the platform.
func (s *Stream) lookUp(ctx context.Context, j *job, people People) (Author, error) {
	who, begin := j.first().Inbound.Author, time.Now()
	for try := 0; ; try++ {
		found, err := people.Person(ctx, j.addr, who)
		if err == nil {
			return found, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return Author{}, cause
		}
		if try == 0 {
			s.log(j).Warn("person unknown", observe.KeyAuthor, who.ID, observe.KeyError, err)
		}
		wait := backoff(try)
		if time.Since(begin)+wait > s.m.cfg.RetryFor {
			return who, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return Author{}, err
		}
	}
}

// Greeting says how to ask at the place of a message: to who only calls the bot, or comes to it for the first time.
func Greeting(in Inbound) string {
	if in.Place == "" {
		return "Hello! Write your question, and I answer."
	}
	return "Hello! Write your question together with my name, or as a reply to me."
}

// Limits on starts without progress: a message that was there at so many crashes is answered alone, or given up.
const (
	startsAlone  = 5
	startsGiveUp = 8
)

// counted raises the starts of a turn that is resumed, durably, before it runs; a first submission raises them in its own Batch.
func (s *Stream) counted(j *job) (over bool, err error) {
	if j.turn == 0 {
		return false, nil
	}
	if j.first().Starts >= startsGiveUp {
		s.log(j).Error(observe.MsgTurnGivenUp, observe.KeyCount, j.first().Starts)
		return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityError, aside: true,
			text: "I gave up on this message: each time I worked on it I had to be restarted. Please ask in another way."})
	}
	for i := range j.entries {
		j.entries[i].Starts++
	}
	b := Batch{ID: NewBatchID(), Thread: s.thread}
	s.writeEntries(&b, j, time.Time{})
	return false, s.put(b)
}

// company waits until the turn may run: beside all others, or alone where it may have brought the process down.
func (s *Stream) company(ctx context.Context, j *job) (release func(), err error) {
	n := int64(1)
	if j.first().Starts >= startsAlone {
		n = everyone
	}
	if !s.m.alone.TryAcquire(n) {
		if err := s.apart(j, func() error { return s.m.alone.Acquire(ctx, n) }); err != nil {
			return nil, err
		}
	}
	return func() { s.m.alone.Release(n) }, nil
}

// recall lets in the edits and deletions that wait in the store, before the first job since the thread was loaded: after a restart the
// feed names what waits one by one, and no prompt is to read what was taken back before.
func (s *Stream) recall() error {
	if s.live.recalled {
		return nil
	}
	for a := range s.live.places {
		waiting, err := s.m.cfg.Store.Waiting(s.m.turns, a)
		if err != nil {
			return &storeError{err}
		}
		for _, e := range waiting {
			if e.State == EntrySignal && !s.has(e.ID) {
				s.signals = append(s.signals, e)
			}
		}
	}
	s.live.recalled = true
	return nil
}
