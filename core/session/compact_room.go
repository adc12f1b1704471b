package session

import (
	"context"
	"time"

	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// How long somebody waits for a summary without which their question doesn't fit, and how many are made of one path for it.
const (
	summaryWait = time.Minute
	maxRooms    = 4
)

// room is a loop.Transform that makes room before the model is shown what its tools have said in the middle of a turn.
type room struct{ s *Stream }

// Transform returns st, or, where older turns have been summarised, the conversation as it is now.
func (r room) Transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	turns := st.Turns()
	if len(turns) == 0 || turns[len(turns)-1].Role != ledger.RoleTool {
		return st, nil
	}
	var j *job
	r.s.own(func() { j = r.s.live.job })
	if j == nil || j.plan == nil || j.turn == 0 {
		return st, nil
	}
	if err := r.s.makeRoom(ctx, j); err != nil {
		return nil, err
	}
	return ledger.NewView(st, boundState(r).Turns()), nil
}

// makeRoom has older turns summarised before a question is asked, or what tools have said is shown, that doesn't fit beside them: for
// nothing else does anybody wait. Where no summary can be made, the prompt is cut instead, and the chat is told; a model server that
// can't be asked for one now can't be asked the question either, so that is tried again. It runs apart from the worker.
func (s *Stream) makeRoom(ctx context.Context, j *job) error {
	refused := false
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
		switch kind := provider.KindOf(err); {
		case err == nil:
		case kind == provider.KindUnreachable || kind == provider.KindBusy:
			return err
		default:
			s.own(func() { err = s.notCompacted(a, err, size) })
			if err != nil || kind != provider.KindTooLong || refused {
				return err
			}
			refused = true // once more, of less
			s.own(func() { s.failedAt = 0 })
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

// crowded returns what is to be summarised so that a job's question fits, and the estimated size of it all; nothing where it fits, or where it
// doesn't even alone.
func (s *Stream) crowded(j *job) (asked, int) {
	if s.m.cfg.CompactAt <= 0 || j.plan.Window <= 0 {
		return asked{}, 0
	}
	path, q := s.live.turns(), ledger.Turn{Role: ledger.RoleUser}
	if j.turn == 0 {
		q.Artifacts, _ = prompt(j.spoken(), j.files)
		if in := j.last().Inbound; in.Place != "" {
			q.Author, q.Speaker = in.Author.ID, speaker(in.Author)
		}
		path = append(path, q)
	} else if t, ok := s.live.led.Turn(j.turn); ok {
		q = t
	}
	x := s.extent(j.plan.Window, path)
	size := x.fixed + budget.EstimateAll(path)
	full, least := j.plan.Full()
	if x.tokens(size) <= full || x.tokens(x.fixed+budget.Estimate(q)) > least || s.rests(size, x.window) {
		return asked{}, 0
	}
	x.at = min(x.at, float64(full)/float64(x.window))
	return s.asking(choose(path, x, false)), size
}
