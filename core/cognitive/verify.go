package cognitive

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
)

// DefaultTries is how many answers Verify looks at where MaxTries isn't set.
const DefaultTries = 3

// Check judges an answer. An empty complaint lets it pass; another is told to
// the model, which then tries again. An error ends the run.
type Check func(ctx context.Context, answer ledger.Turn) (complaint string, err error)

// Promoter is a State that can make a draft an answer to deliver. Verify needs
// one: the State that Inner returns, which is the executor's bound state.
type Promoter interface {
	// Promote makes the draft with this id an answer: from when it returns nil,
	// the turn is final, whoever asked has their end, and the State's Turns show
	// it without Draft. It is asked once a run, for the last assistant turn that
	// was appended, with the run's ctx. Verify has no way to emit: a State whose
	// turns are waited for announces the turn itself, as it is now (Emit doesn't
	// append a turn that is stamped). An error leaves the turn a draft, unless
	// it says that the outcome is unknown, and ends the run.
	Promote(ctx context.Context, id ledger.TurnID) error
}

// Verify checks an answer before anybody gets it, and asks again when the check
// fails. Everything it appends is a draft (ledger.WithDraft); the answer that
// passes is promoted.
type Verify struct {
	// Inner gets the answers; nil means SingleShot.
	Inner Pattern
	// Check judges them; it may not be nil.
	Check Check
	// MaxTries is how many answers are judged; zero means DefaultTries.
	MaxTries int
}

// Run runs Inner until its answer passes. The complaint goes to the model as a
// user turn, in its place in the conversation. After the last try Run returns a
// *RejectedError, and all answers stay drafts.
func (v Verify) Run(ctx context.Context, exec loop.TurnExecutor, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error) {
	draft := ledger.WithDraft(ctx)
	for try := 1; ; try++ {
		var err error
		if st, err = v.inner().Run(draft, exec, st, spec, p, opts...); err != nil {
			return st, err
		}
		complaint, err := v.judge(ctx, st)
		if err != nil || complaint == "" {
			return st, err
		}
		if try >= v.tries() {
			return st, &RejectedError{Tries: try, Complaint: complaint}
		}
		if st, err = exec.Submit(draft, st, ledger.RoleUser, artifact.Text{Content: complaint}); err != nil {
			return st, err
		}
	}
}

// judge checks the last answer, and promotes it when it passes.
func (v Verify) judge(ctx context.Context, st ledger.State) (string, error) {
	t, _, ok := answer(st)
	if !ok {
		return "", errors.New("cognitive: verify: no answer on the state")
	}
	complaint, err := v.Check(ctx, t)
	if err != nil {
		return "", fmt.Errorf("cognitive: check %s: %w", t.ID, err)
	}
	if complaint != "" {
		return complaint, nil
	}
	pr, ok := st.(Promoter)
	if !ok {
		return "", fmt.Errorf("cognitive: verify: %T can't promote a draft", st)
	}
	return "", pr.Promote(ctx, t.ID)
}

func (v Verify) inner() Pattern {
	if v.Inner == nil {
		return SingleShot{}
	}
	return v.Inner
}

func (v Verify) tries() int {
	if v.MaxTries <= 0 {
		return DefaultTries
	}
	return v.MaxTries
}

// RejectedError says that no answer passed the check.
type RejectedError struct {
	Tries     int
	Complaint string // about the last answer
}

// Error names the tries. The complaint may quote the conversation and is left
// out.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("cognitive: %d answers, none passed the check", e.Tries)
}
