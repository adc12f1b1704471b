package session

import (
	"context"
	"time"

	"orebot/core/ledger"
	"orebot/core/transform/budget"
)

// How long somebody waits for a summary without which their question doesn't fit, and how many are made of one path for it.
const (
	summaryWait = time.Minute
	maxRooms    = 4
)

// makeRoom has older turns summarised before a question is asked that doesn't fit beside them: for nothing else does anybody wait.
// Where no summary can be made, the prompt is cut instead, and the chat is told. It runs apart from the worker.
func (s *Stream) makeRoom(ctx context.Context, j *job) error {
	for range maxRooms {
		var a asked
		var size int
		s.own(func() { a, size = s.crowded(j) })
		if a.c == nil {
			return nil
		}
		err := s.summariseFor(ctx, j, a)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			s.own(func() { err = s.notCompacted(err, size) })
			return err
		}
	}
	return nil
}

// summariseFor makes one summary, which the job's author waits for, and keeps it.
func (s *Stream) summariseFor(ctx context.Context, j *job, a asked) error {
	waiting, end := context.WithTimeout(ctx, summaryWait)
	defer end()
	t, err := s.m.summarise(waiting, a, s.m.model)
	s.own(func() {
		s.countTokens(t)
		if err != nil {
			s.owe(j.payer(), t)
		} else if err = context.Cause(ctx); err == nil {
			err = s.keep(t, j.payer())
		}
	})
	return err
}

// crowded returns what is to be summarised so that a job's question fits, and the size of it all; nothing where it fits, or where it
// doesn't even alone.
func (s *Stream) crowded(j *job) (asked, int) {
	if s.m.cfg.CompactAt <= 0 || j.plan.Window <= 0 {
		return asked{}, 0
	}
	path, q := s.live.turns(), ledger.Turn{Role: ledger.RoleUser}
	if j.turn == 0 {
		q.Artifacts, _ = prompt(j.spoken(), j.files)
		path = append(path, q)
	} else if t, ok := s.live.led.Turn(j.turn); ok {
		q = t
	}
	x := s.extent(j.plan.Window)
	size := x.tokens(x.fixed + budget.EstimateAll(path))
	full, least := j.plan.Full()
	if size <= full || x.tokens(x.fixed+budget.Estimate(q)) > least || s.failedAt > 0 && size < s.failedAt+x.window/8 {
		return asked{}, 0
	}
	x.at = min(x.at, float64(full)/float64(x.window))
	return s.asking(choose(path, x, false)), size
}
