package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"orebot/core/observe"
)

// maxRereads is how often in a row a thread is read again for a reason that reading again should have removed.
const maxRereads = 8

// panicError is a panic outside a turn.
type panicError struct{ what any }

func (e *panicError) Error() string { return fmt.Sprintf("session: panic: %v", e.what) }

// try handles a job. A panic costs this job, not the process.
func (s *Stream) try(j *job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log(j).Error("panic outside a turn", observe.KeyError, r, "stack", string(debug.Stack()))
			err = &panicError{r}
		}
	}()
	fresh := s.live == nil
	if err := s.hydrate(s.m.turns); err != nil {
		return err
	}
	if fresh {
		if later, err := s.yields(j); later || err != nil {
			return err
		}
	}
	if err := s.whole(j); err != nil {
		return err
	}
	if later, err := s.meet(j); later || err != nil {
		return err
	}
	return s.handle(j)
}

// lose gives up what is in memory: something else is, or may be, in the store. The entries named, and what waits, are read again,
// unless the process is about to end.
func (s *Stream) lose(err error, ids []EntryID) {
	s.close()
	stuck := ids
	ids = append(ids, idsOf(s.waiting)...)
	if len(s.signals) > 0 {
		stuck = append(stuck, s.signals[0].ID)
	}
	ids = append(ids, idsOf(s.signals)...)
	s.waiting, s.signals = nil, nil
	log := s.m.cfg.Logger.With(observe.KeyThread, s.thread.String(), observe.KeyError, err)
	if errors.Is(err, errShutdown) || errors.Is(err, ErrClosed) || s.m.turns.Err() != nil {
		log.Debug("thread left as it stands")
		s.forget()
		return
	}
	s.retries++
	log.Log(s.m.turns, s.loudness(err), "thread read again", observe.KeyAttempt, s.retries)
	if sleep(s.m.turns, min(time.Duration(s.retries)*100*time.Millisecond, 5*time.Second)) != nil {
		return
	}
	if s.retries > maxRereads && stubborn(err) {
		s.abandon(stuck)
		s.retries = 0
	}
	s.unroute()
	for _, id := range ids { // an address may have been bound elsewhere meanwhile
		s.m.wake(id)
	}
}

// loudness is the level at which it is told that the thread is read again. A message may be handed to a worker just as another one binds
// its address elsewhere: that costs this worker one Conflict, and nothing is wrong.
func (s *Stream) loudness(err error) slog.Level {
	var conflict *Conflict
	if s.retries == 1 && errors.As(err, &conflict) {
		return slog.LevelInfo
	}
	return slog.LevelError
}

// stubborn reports whether an error comes from what is stored or from the code, so that it will be there for ever.
func stubborn(err error) bool {
	var conflict *Conflict
	var corrupt *CorruptError
	var panicked *panicError
	return errors.As(err, &conflict) || errors.As(err, &corrupt) || errors.As(err, &panicked) || errors.Is(err, ErrTooLarge)
}

// abandon ends entries that can't even be ended with a line in the chat. The operator is told instead.
func (s *Stream) abandon(ids []EntryID) {
	for _, id := range ids {
		log := s.m.cfg.Logger.With(observe.KeyEntry, id.String())
		e, ok, err := s.m.cfg.Store.Entry(s.m.turns, id)
		if err == nil && ok && e.State == EntrySignal {
			err = s.done(e)
		} else if err == nil && ok && e.State.Waits() {
			err = s.endUnsaid(&job{addr: id.Address, entries: []StoredEntry{e}})
		}
		log.Error(observe.MsgTurnGivenUp, observe.KeyError, err)
	}
}

// endUnsaid ends a message without a line. One with which its address was to join this conversation gets a line in its own one, which the
// address has back.
func (s *Stream) endUnsaid(j *job) error {
	if j.first().Join == nil {
		return s.endSilently(j, EndUndeliverable)
	}
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	if err != nil {
		return err
	}
	if !st.joins(s.thread) {
		return s.endSilently(j, EndUndeliverable)
	}
	j.first().Join, j.first().Notice = nil, notLinked
	return s.giveBack(j, st)
}

// forget empties the inbox: the next life of the process, or the next message, finds what waits.
func (s *Stream) forget() {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.inbox = nil
}

// unroute forgets which addresses are routed to this thread.
func (s *Stream) unroute() {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for a, thread := range s.m.routes {
		if thread == s.thread {
			delete(s.m.routes, a)
		}
	}
}

// reread makes the job's entries those that are stored and still wait.
func (s *Stream) reread(j *job) error {
	var now []StoredEntry
	for _, id := range idsOf(j.entries) {
		e, ok, err := s.m.cfg.Store.Entry(context.Background(), id)
		if err != nil {
			return err
		}
		if ok && e.State.Waits() {
			now = append(now, e)
		}
	}
	j.entries, j.turn = now, 0
	for _, e := range now {
		j.turn = max(j.turn, e.Turn) // one that came late has none yet
	}
	return nil
}
