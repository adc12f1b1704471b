package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/provider"
)

// converse submits the job's messages, where they aren't on the log, and runs the Pattern until it has answered, until a failure
// is final, or until the process stops. It returns an error where the job is left as it stands.
func (s *Stream) converse(ctx context.Context, j *job) error {
	ctx = s.watched(withCaller(ctx, j.first().Inbound.Author.ID), j)
	ctx = loop.WithThreadID(loop.WithProvenance(ctx, string(j.addr)), s.thread.String())
	s.live.job = j
	s.live.step.SetEventContext(ctx)
	defer s.leave()
	j.charge = charge{}
	defer func() { j.charge.rest(j.charge.stay()) }()
	begin := time.Now()
	for try := 1; ; try++ {
		j.plan = s.plan()
		a := s.asking(nil)
		j.charge.attempted()
		err := s.apart(j, func() error { return s.attempt(ctx, j, a) })
		if j.done {
			return s.answered(ctx, j, begin, err)
		}
		if over, err := s.failed(ctx, j, err, try, begin); over || err != nil {
			return err
		}
	}
}

// leave ends what SetEventContext and the job began; the Stream may have lost its live state meanwhile.
func (s *Stream) leave() {
	if s.live == nil {
		return
	}
	s.live.step.Emit(context.Background(), loop.LifecycleEvent{Phase: "done"})
	s.live.step.SetEventContext(context.Background())
	s.live.job, s.live.path = nil, nil
}

// attempt is one run of the Pattern, apart from the worker: what it needs to know of the thread, a tells. A panic in it is this turn's
// failure, not the process's.
func (s *Stream) attempt(ctx context.Context, j *job, a asked) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log(j).Error("panic in a turn", observe.KeyError, r, "stack", string(debug.Stack()))
			err = fmt.Errorf("session: panic: %v", r)
		}
		if p, ok := errors.AsType[*loop.PanicError](err); ok { // in the provider, a transform or a handler
			s.log(j).Error("panic in a turn", observe.KeyError, p.Value, "stack", string(p.Stack))
		}
	}()
	ctx = context.WithValue(ctx, systemKey{}, a.system)
	planned, spec := s.m.planned(ctx, j.plan, a.spec)
	if err := s.makeRoom(ctx, j); err != nil {
		return err
	}
	ctx = withChanges(planned, j)
	st := boundState{s}
	if j.turn == 0 {
		var arts []artifact.Artifact
		arts, j.parts = prompt(j.spoken(), j.files)
		if _, err := s.live.step.Submit(ctx, st, ledger.RoleUser, arts...); err != nil {
			return err
		}
	} else if err := s.mend(ctx, st, j); err != nil {
		return err
	}
	_, err = s.m.cfg.Pattern.Run(ctx, s.live.step, st, spec, s.m.model)
	if err == nil && !j.done {
		return &provider.Error{Kind: provider.KindEmpty, Err: errors.New("the pattern ended without a final turn")}
	}
	return err
}

// mend closes tool calls that a crash left open. They aren't run again: they may have had their effect.
func (s *Stream) mend(ctx context.Context, st ledger.State, j *job) error {
	j.mending = true
	defer func() { j.mending = false }()
	for _, id := range openCalls(st.Turns()) {
		res := artifact.ToolResult{ToolCallID: id, Content: "interrupted, may have run", IsError: true}
		if _, err := s.live.step.Submit(ctx, st, ledger.RoleTool, res); err != nil {
			return err
		}
	}
	return nil
}

// openCalls returns the calls on the path that have no result, in order. Models may give several calls the same id, in one turn or in
// two; each result closes one.
func openCalls(path []ledger.Turn) []string {
	var open []string
	for _, t := range path {
		for _, a := range t.Artifacts {
			switch a := a.(type) {
			case artifact.ToolCall:
				open = append(open, a.ID)
			case artifact.ToolResult:
				if i := slices.Index(open, a.ToolCallID); i >= 0 {
					open = slices.Delete(open, i, i+1)
				}
			}
		}
	}
	return open
}

// answered is what follows the final turn. Whatever failed behind it (err), the messages have their one end; where it was the
// store, what is in memory has to be read again.
func (s *Stream) answered(ctx context.Context, j *job, begin time.Time, err error) error {
	s.countEnds(j, EndAnswered)
	s.m.cfg.Counters.Observe(observe.TurnSeconds, time.Since(begin).Seconds())
	s.log(j).Info("answered", observe.KeySeq, j.first().EndSeq, observe.KeyTook, time.Since(begin))
	if err != nil {
		s.log(j).Error("failure behind the answer", observe.KeyError, err)
	}
	var st *storeError
	if errors.As(err, &st) || errors.As(context.Cause(ctx), &st) {
		return st
	}
	return nil
}

// countTokens counts what a call of the model cost, whether or not its answer was kept in the end.
func (s *Stream) countTokens(t ledger.Turn) {
	for _, a := range t.Artifacts {
		if u, ok := a.(artifact.Usage); ok {
			s.m.cfg.Counters.Add(observe.Tokens, float64(u.PromptTokens), observe.In, s.model())
			s.m.cfg.Counters.Add(observe.Tokens, float64(u.CompletionTokens), observe.Out, s.model())
		}
	}
}

func (s *Stream) countEnds(j *job, how End) {
	s.m.cfg.Counters.Add(observe.Messages, float64(len(j.entries)), j.addr.Conduit(), how.String())
}

func (s *Stream) log(j *job) *slog.Logger {
	return s.m.cfg.Logger.With(observe.KeyThread, s.thread.String(), observe.KeyEntry, j.first().ID.String(), observe.KeyRef, refOf(j))
}

// sleep waits, or returns the cause for which ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// backoff doubles from half a second to ten seconds, with up to a quarter of jitter.
func backoff(try int) time.Duration {
	d := min(500*time.Millisecond<<min(try, 5), 10*time.Second)
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}
