package session

import (
	"context"
	"errors"
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// errNoSpare is why a call isn't made, or ends, that nobody waits for: others need the place.
var errNoSpare = errors.New("session: the model has no time to spare")

// spare lets calls through a gate that nobody waits for: at once or not at all, and only until somebody would have to wait for it.
type spare struct{ g *gate }

// Invoke calls while there is a place to spare.
func (p spare) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !p.g.enterSpare(&cancel) {
		return errNoSpare
	}
	defer p.g.leaveSpare(&cancel)
	err := p.g.next.Invoke(ctx, st, spec, ch, opts...)
	if err != nil && context.Cause(ctx) == errNoSpare {
		return errNoSpare
	}
	return err
}

func (g *gate) enterSpare(cancel *context.CancelCauseFunc) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy >= g.limit() || len(g.line) > 0 {
		return false
	}
	g.busy++
	g.spares = append(g.spares, cancel)
	return true
}

func (g *gate) leaveSpare(cancel *context.CancelCauseFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	if i := slices.Index(g.spares, cancel); i >= 0 {
		g.spares = slices.Delete(g.spares, i, i+1)
	}
	g.serve()
}
