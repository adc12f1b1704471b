package session

import (
	"context"
	"errors"

	"orebot/core/observe"
)

// maxSettle is how often a Batch of unknown outcome is committed again before the thread is read anew.
const maxSettle = 3

// put commits a Batch and waits until its outcome is known. An unknown one is settled by committing the same Batch again, and a
// store that has no room is waited for: what a turn has cost isn't thrown away.
func (s *Stream) put(b Batch) error {
	for try := 0; ; try++ {
		_, err := CommitWait(context.Background(), s.m.cfg.Store, b)
		switch {
		case err == nil || applied(err):
			return nil
		case errors.Is(err, ErrPaused):
		case errors.Is(err, ErrUnknown) && try < maxSettle:
		default:
			return &storeError{err}
		}
		if try == 0 {
			s.m.cfg.Logger.Warn("write tried again", observe.KeyThread, s.thread.String(), observe.KeyError, err)
		}
		if sleep(s.m.turns, backoff(try)) != nil {
			return &storeError{err}
		}
	}
}

// send commits without waiting; a failure ends the turn in progress, with the store's error as the cause. Once something has
// failed, it waits: the model isn't asked again and again for what can't be written down.
func (s *Stream) send(j *job, b Batch) error {
	if s.retries > 0 {
		return s.commit(b)
	}
	if err := s.live.take(b); err != nil {
		return err
	}
	var fail context.CancelCauseFunc
	if j != nil {
		fail = j.cancel
	}
	b.Patient = true
	s.m.cfg.Store.Commit(context.Background(), b, func(_ Result, err error) {
		if err != nil && fail != nil && !applied(err) {
			fail(&storeError{err})
		}
	})
	return nil
}

// commit commits and waits. Only then is the Batch's effect true in memory.
func (s *Stream) commit(b Batch) error {
	if err := s.put(b); err != nil {
		return err
	}
	return s.live.take(b)
}

// commitEnd commits an end. If a courier has moved a cursor meanwhile, it goes without the first intents: they are a saving, not
// a condition.
func (s *Stream) commitEnd(b Batch) error {
	err := s.commit(b)
	var c *Conflict
	if errors.As(err, &c) && c.OnlyOptional {
		b.Cursors = nil
		return s.commit(b)
	}
	return err
}

func applied(err error) bool {
	var c *Conflict
	return errors.As(err, &c) && c.Applied
}

// storeError marks an error of the store among those of a turn.
type storeError struct{ err error }

func (e *storeError) Error() string { return "session: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }
