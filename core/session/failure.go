package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orebot/core/cognitive"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/words"
)

// maxFailures is how often an entry may fail in ways that nothing explains.
const maxFailures = 3

// failed decides what follows a failed attempt: another one (neither over nor an error), the end of the messages (over), or that
// the job is left as it stands (an error).
func (s *Stream) failed(ctx context.Context, j *job, err error, try int, begin time.Time) (over bool, left error) {
	var st *storeError
	switch cause := context.Cause(ctx); {
	case j.stop != nil && s.m.turns.Err() == nil:
		return true, s.stopped(j, err)
	case errors.As(cause, &st) || errors.As(err, &st): // the cause came first
		if errors.Is(st, ErrTooLarge) {
			return true, s.oversize(j)
		}
		return false, st
	case errors.Is(cause, errDismissed):
		return true, s.dismiss(j)
	case errors.Is(cause, errChanged):
		return false, errChanged
	case errors.Is(cause, errDropped):
		return true, s.drop(j)
	case cause != nil:
		return false, s.suspend(j)
	case errors.Is(err, errOutdated):
		j.remade++
		return false, errChanged
	}
	return s.callFailed(ctx, j, err, try, begin)
}

// callFailed decides what follows a call of the model that brought no answer.
func (s *Stream) callFailed(ctx context.Context, j *job, err error, try int, begin time.Time) (over bool, left error) {
	kind := provider.KindOf(err)
	if kind == provider.KindTooLong && s.squeeze(j) {
		s.log(j).Warn("history shortened", observe.KeyError, err)
		return false, nil
	}
	if text := s.tooLong(j, err); text != "" {
		s.log(j).Warn("question too long", observe.KeyError, err)
		return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, text: text, aside: true})
	}
	if limit, ok := errors.AsType[*cognitive.LimitError](err); ok {
		return true, s.onlyTools(j, limit)
	}
	if kind == provider.KindUnknown {
		return s.unexplained(ctx, j, err)
	}
	alone := j.charge.stay()
	if wait, again := s.again(j, err, alone, try, begin); again {
		if try == 1 {
			s.log(j).Warn(modelTrouble(kind), observe.KeyError, err, observe.KeyWait, wait)
		}
		j.charge.rest(alone)
		err := s.pause(ctx, j, wait)
		if err == nil {
			err = s.stand(ctx, j)
		}
		if err != nil {
			return s.failed(ctx, j, err, try, begin)
		}
		return false, nil
	}
	over, left = s.giveUp(ctx, j, err, try, begin)
	j.charge.rest(alone)
	return over, left
}

// onlyTools ends messages for which the model went on calling tools when it was offered none any more.
func (s *Stream) onlyTools(j *job, e *cognitive.LimitError) error {
	s.log(j).Warn("no answer but tools", observe.KeyCount, e.Rounds)
	text := fmt.Sprintf("I used tools %d times and came to no answer. Please ask for less at once; %s.", e.Rounds, s.m.asking(j.addr))
	return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, text: text, aside: true, offers: []string{"retry"}})
}

// offersAfter are the commands that help after a failure of the model.
func offersAfter(kind provider.Kind) []string {
	switch kind {
	case provider.KindUnreachable, provider.KindBusy, provider.KindTimeout, provider.KindEmpty, provider.KindIncomplete,
		provider.KindNoLoad:
		return []string{"retry"}
	}
	return nil
}

// suspend notes an orderly stop: it is no sign that the message does harm.
func (s *Stream) suspend(j *job) error {
	if j.turn == 0 {
		return errShutdown
	}
	for i := range j.entries {
		j.entries[i].Starts = 0
	}
	b := Batch{ID: NewBatchID(), Thread: s.thread}
	s.writeEntries(&b, j, time.Time{})
	if err := s.put(b); err != nil {
		return err
	}
	return errShutdown
}

// oversize ends messages whose turn is more than the store takes. What is in memory didn't come true.
func (s *Stream) oversize(j *job) error {
	s.close()
	if err := s.hydrate(s.m.turns); err != nil {
		return err
	}
	if err := s.reread(j); err != nil || len(j.entries) == 0 {
		return err
	}
	return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, aside: true,
		text: "That became more than I can keep at once. Please ask for less."})
}

// again tells whether a model's failure is worth another attempt now, and after which wait. An answer that came to nothing is, once.
func (s *Stream) again(j *job, err error, alone bool, try int, begin time.Time) (time.Duration, bool) {
	kind := provider.KindOf(err)
	if !provider.Retryable(kind) {
		return 0, false
	}
	wait := backoff(try - 1)
	var pe *provider.Error
	if errors.As(err, &pe) && pe.After > 0 {
		wait = pe.After
	}
	if kind == provider.KindEmpty || kind == provider.KindIncomplete || kind == provider.KindRepeats {
		return wait, j.charge.spoil(kind, alone)
	}
	return wait, time.Since(begin)+wait <= s.m.cfg.RetryFor
}

// unexplained counts a failure that is nobody's known fault. The third ends the messages.
func (s *Stream) unexplained(ctx context.Context, j *job, err error) (over bool, left error) {
	for i := range j.entries {
		j.entries[i].Failures++
	}
	s.log(j).Error("turn failed", observe.KeyError, err, observe.KeyAttempt, j.first().Failures)
	if j.first().Failures >= maxFailures {
		return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityError, aside: true,
			text: "Something went wrong on my side. Please ask again in a while."})
	}
	if j.first().State == EntrySubmitted {
		b := Batch{ID: NewBatchID(), Thread: s.thread}
		s.writeEntries(&b, j, time.Time{})
		s.m.cfg.Store.Commit(context.Background(), b, func(Result, error) {})
	}
	if err := s.pause(ctx, j, backoff(int(j.first().Failures))); err != nil {
		return s.failed(ctx, j, err, maxFailures, time.Now())
	}
	return false, nil
}

// pause waits, with an ear for what comes in, or returns the cause for which ctx ended.
func (s *Stream) pause(ctx context.Context, j *job, d time.Duration) error {
	return s.apart(j, func() error { return sleep(ctx, d) })
}

// modelTrouble is the log line for a kind of failure.
func modelTrouble(k provider.Kind) string {
	if k == provider.KindUnreachable {
		return observe.MsgModelUnreachable
	}
	return "model failed"
}

// explain says what happened and what to do at an address.
func (s *Stream) explain(err error, kind provider.Kind, after time.Duration, a Address) (loop.Severity, string) {
	model, again, prefix := s.model(), s.m.asking(a), s.m.prefix(a)
	var pe *provider.Error
	if errors.As(err, &pe) && pe.Model != "" {
		model = pe.Model
	}
	switch kind {
	case provider.KindUnreachable:
		return loop.SeverityError, fmt.Sprintf("The model server hasn't answered for %s. Your message is kept; %s.", words.Duration(max(after, time.Second)), again)
	case provider.KindBusy:
		return loop.SeverityWarn, "The model server is too busy; " + again + " in a minute."
	case provider.KindModelMissing:
		return loop.SeverityError, missing(model, installed(pe), prefix)
	case provider.KindTimeout:
		return loop.SeverityError, fmt.Sprintf("The model went silent for %s. Please ask again, or something shorter.", words.Duration(max(after, time.Second)))
	case provider.KindEmpty, provider.KindIncomplete:
		return loop.SeverityWarn, "The model stopped without an answer; I tried twice. " + sentence(again) + "."
	case provider.KindRepeats:
		return loop.SeverityWarn, "The model only repeated itself; I stopped it twice. Ask in other words; " + again + "."
	case provider.KindTooLong:
		return loop.SeverityWarn, fmt.Sprintf("That is more than `%s` can read at once. Please send less.", model)
	case provider.KindTooBig:
		return loop.SeverityWarn, fmt.Sprintf("What stands in front of the model server takes no request of that many bytes; I've set your message aside. "+
			"Send fewer or smaller files, or go on in a fresh conversation: `%snew`. Operator: raise its limit for requests.", prefix)
	case provider.KindNoLoad:
		return loop.SeverityError, fmt.Sprintf("The model server can't load `%s`; the operator has to look at it. Your message is kept; %s.", model, again)
	case provider.KindDenied:
		return loop.SeverityError, "The model server doesn't let me in. The operator has to check its key."
	default:
		return loop.SeverityError, "The model server refused this request. I've set it aside; please ask in another way."
	}
}

// sentence begins a text with a capital letter, where it begins with a letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// missing says that a model isn't there, and what is: somebody in the chat can choose that, the operator can install the other.
func missing(model string, here []string, prefix string) string {
	if len(here) == 0 {
		return fmt.Sprintf("`%s` isn't installed. Operator: `ollama pull %s`.", model, model)
	}
	return fmt.Sprintf("`%s` isn't installed. Here: %s. `%smodel %s`", model, strings.Join(here, ", "), prefix, here[0])
}

// installed returns what a provider says of the models that are there.
func installed(e *provider.Error) []string {
	if e == nil {
		return nil
	}
	return e.Installed
}
