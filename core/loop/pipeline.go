package loop

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// Transform changes what the provider is shown: it may put turns in front, leave
// turns out, or shorten them.
type Transform interface {
	// Transform returns the State to show instead of st. It gets the result of
	// the Transform before it, or a snapshot of the conversation, and has no way
	// to change the conversation itself. An error ends the turn before the
	// provider is asked.
	Transform(ctx context.Context, st ledger.State) (ledger.State, error)
}

// Handler acts on the artifacts of complete turns, on those kinds that it
// knows.
type Handler interface {
	// Handle is called once for each artifact of a turn, after the turn has been
	// announced. What it wants to add to the conversation it emits (the result of
	// a tool is a TurnCompleteEvent with RoleTool). An error ends the Turn or
	// Submit that it runs in.
	Handle(ctx context.Context, art artifact.Artifact, e Emitter) error
}

// Pipeline is the way through one turn: transforms, provider, merging, handlers.
// It keeps nothing between calls and emits nothing by itself. The zero value has
// no transforms and no handlers.
type Pipeline struct {
	transforms []Transform
	handlers   []Handler
}

// inFlight is how many artifacts a provider may be ahead of the subscribers.
const inFlight = 16

// Turn shows st, as the transforms shape it, to the model that spec names, and
// returns st itself and the complete artifacts of the answer. onArtifact, if not
// nil, is called for each artifact as the provider sends it and for each block
// that was put together from fragments. Fragments are merged by their
// AccumulatorKey, next to each other or not, and the blocks are complete where a
// complete artifact follows or the stream ends. A nil st is an empty
// conversation.
//
// When the provider fails, its error comes back with what was complete or could
// be completed. When a transform fails, the provider isn't asked. A panic in one
// of them is such a failure, a *PanicError.
func (p *Pipeline) Turn(ctx context.Context, st ledger.State, spec models.Spec, prov provider.Provider, onArtifact func(artifact.Artifact), opts ...provider.InvokeOption) (ledger.State, []artifact.Artifact, error) {
	view, err := p.transform(ctx, st)
	if err != nil {
		return st, nil, err
	}
	if onArtifact == nil {
		onArtifact = func(artifact.Artifact) {}
	}
	ac := &accumulator{seen: onArtifact}
	err = stream(ctx, ac.add, func(ctx context.Context, ch chan<- artifact.Artifact) error {
		return prov.Invoke(ctx, view, spec, ch, opts...)
	})
	ac.flush()
	return st, ac.done, err
}

// transform returns what the provider is to be shown. It is never st itself.
func (p *Pipeline) transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	view := ledger.Snapshot(st)
	for i, t := range p.transforms {
		err := guard(func() (err error) {
			view, err = t.Transform(ctx, view)
			return err
		})
		if err == nil && view == nil {
			err = errors.New("no state came back")
		}
		if err != nil {
			return nil, &transformError{fmt.Errorf("loop: transform %d (%T): %w", i, t, err)}
		}
	}
	return view, nil
}

// stream runs invoke beside the caller, who gets in add what invoke sends. It
// returns when invoke has returned and everything it sent was added.
func stream(ctx context.Context, add func(artifact.Artifact), invoke func(context.Context, chan<- artifact.Artifact) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch := make(chan artifact.Artifact, inFlight)
	result := background(func() error { return invoke(ctx, ch) })
	for from := ch; ; {
		select {
		case a, ok := <-from:
			if !ok { // against the contract, but no reason to spin
				from = nil
			}
			add(a)
		case err := <-result:
			drain(ch, add)
			return err
		}
	}
}

// drain adds what was sent before invoke returned, and nothing that comes later.
func drain(ch <-chan artifact.Artifact, add func(artifact.Artifact)) {
	for range len(ch) {
		add(<-ch)
	}
}

// RunHandlers calls every handler, in registration order, with each artifact in
// turn. It stops at the first error, be it the handler's, a panic in it (a
// *PanicError), or that of an append that failed inside the handler's Emit.
func (p *Pipeline) RunHandlers(ctx context.Context, artifacts []artifact.Artifact, emitter Emitter) error {
	for _, a := range artifacts {
		for _, h := range p.handlers {
			err := guard(func() error { return h.Handle(ctx, a, emitter) })
			if err != nil {
				err = fmt.Errorf("loop: handle %s (%T): %w", a.Kind(), h, err)
			}
			if err = errors.Join(err, latched(emitter)); err != nil {
				return err
			}
		}
	}
	return nil
}
