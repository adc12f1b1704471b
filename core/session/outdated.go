package session

import (
	"context"
	"errors"
)

// errOutdated keeps a call from being made whose prompt shows what was edited or deleted meanwhile: while a tool ran, while the call waited in
// line, or while one model server let it wait before it failed. The prompt is made anew.
var errOutdated = errors.New("session: something was changed since the prompt was made")

// maxRemade is how many prompts of a job are thrown away: what is edited all the time mustn't keep it from its answer.
const maxRemade = 8

type outdatedKey struct{}

// withChanges lets the gate see, under the context returned, whether a job's prompt is still true.
func withChanges(ctx context.Context, j *job) context.Context {
	if j.remade >= maxRemade {
		return ctx
	}
	return context.WithValue(ctx, outdatedKey{}, j)
}

// upToDate returns errOutdated where the prompt of a call under ctx isn't true any more.
func upToDate(ctx context.Context) error {
	if j, ok := ctx.Value(outdatedKey{}).(*job); ok && j.changed.Load() {
		return errOutdated
	}
	return nil
}
