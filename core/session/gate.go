package session

import (
	"context"

	"golang.org/x/sync/semaphore"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// everyone is the weight of a turn that must be alone; any other has the weight 1.
const everyone = 1 << 20

// gate lets a bounded number of calls through to the provider; the rest wait in the order in which they came.
type gate struct {
	next provider.Provider
	sem  *semaphore.Weighted
}

func newGate(p provider.Provider, n int) *gate {
	return &gate{next: p, sem: semaphore.NewWeighted(int64(n))}
}

// Invoke waits for its turn, then calls. A call that waits ends with ctx.
func (g *gate) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	if err := g.sem.Acquire(ctx, 1); err != nil {
		return err
	}
	defer g.sem.Release(1)
	return g.next.Invoke(ctx, st, spec, ch, opts...)
}
