package loop

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// InterruptedError is a provider failure, with what of the answer had come in
// until then, put together as it would have been in the complete turn. It is
// what is left of a turn that was not appended.
type InterruptedError struct {
	// Artifacts are in order, without fragments; none where nothing had come in.
	Artifacts []artifact.Artifact
	// Err is the provider's error, a *PanicError where it panicked.
	Err error
}

// Error returns the text of the provider's error.
func (e *InterruptedError) Error() string { return "loop: turn: " + e.Err.Error() }

// Unwrap returns the provider's error.
func (e *InterruptedError) Unwrap() error { return e.Err }

// AppendError says that a complete turn could not be appended to the state, or
// that it isn't known whether it was.
type AppendError struct {
	// Role is that of the turn.
	Role ledger.Role
	// Err is the state's error.
	Err error
}

// Error names the role of the turn and the state's error.
func (e *AppendError) Error() string {
	return fmt.Sprintf("loop: append %s turn: %s", e.Role, e.Err)
}

// Unwrap returns the state's error.
func (e *AppendError) Unwrap() error { return e.Err }

// transformError tells a failed transform from a failed provider.
type transformError struct{ err error }

func (e *transformError) Error() string { return e.err.Error() }
func (e *transformError) Unwrap() error { return e.err }

// withCause adds the reason for which ctx was cancelled, if there is one beyond
// the cancellation and err doesn't say it.
func withCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || cause == ctx.Err() || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// givenUp reports whether err is what a cancelled turn ends with, which is news
// to nobody: it was cancelled for no other reason than that somebody wanted it.
func givenUp(ctx context.Context, err error) bool {
	if _, failed := errors.AsType[*AppendError](err); failed {
		return false
	}
	return ctx.Err() != nil && context.Cause(ctx) == context.Canceled
}
