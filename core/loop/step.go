package loop

import (
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// TurnRunner runs one turn of the model. Step.Turn says what that means.
type TurnRunner interface {
	Turn(ctx context.Context, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error)
}

// TurnSubmitter records a turn that comes from elsewhere. Step.Submit says what
// that means.
type TurnSubmitter interface {
	Submit(ctx context.Context, st ledger.State, role ledger.Role, artifacts ...artifact.Artifact) (ledger.State, error)
}

// TurnExecutor is what a cognitive pattern works with. A Step is one.
type TurnExecutor interface {
	TurnRunner
	TurnSubmitter
}

// Step runs the turns of one thread, one at a time.
type Step struct {
	bus    EventBus
	pipe   Pipeline
	spec   models.Spec
	invoke []provider.InvokeOption
	tracer trace.Tracer // nil: no spans
}

// New returns a Step. Without options it shows the provider what it is given,
// appends the answer there, and broadcasts.
func New(opts ...Option) *Step {
	s := &Step{}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Emit is EventBus.Emit.
func (s *Step) Emit(ctx context.Context, event OutputEvent) { s.bus.Emit(ctx, event) }

// Subscribe is EventBus.Subscribe.
func (s *Step) Subscribe(kinds ...string) <-chan OutputEvent { return s.bus.Subscribe(kinds...) }

// Close is EventBus.Close.
func (s *Step) Close() error { return s.bus.Close() }

// SetEventContext sets the context of the events that follow and bring none of
// their own. Its values count, its cancellation doesn't. Set it for each message
// and clear it, with nil or context.Background, when the message is done: the
// Step never does.
func (s *Step) SetEventContext(ctx context.Context) { s.bus.setContext(ctx) }

// Turn asks the provider once and returns the state that the answer is on: the
// bound one, or else st.
//
// The transforms shape what the provider is shown, which is st, or the bound
// state where st is nil. What the provider sends is broadcast as it comes. The
// complete answer is appended to the bound state, or else to st, or nowhere
// where both are nil; then it is announced, and the handlers get its artifacts.
// Unset fields of spec are those of WithDefaultSpec. The turn takes its
// provenance, and whether it is a draft, from ctx.
//
// A failure of the provider is returned as an *InterruptedError with what had
// come in; the turn is not appended. A failed append is an *AppendError. Every
// failure is emitted as an ErrorEvent too, except that of a turn whose ctx was
// cancelled without a cause. A panic in the provider, a transform or a handler is
// a failure like another, with a *PanicError in its chain.
func (s *Step) Turn(ctx context.Context, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error) {
	ctx, end := s.span(ctx, "loop.turn")
	var err error
	defer func() { end(err) }() // after a callback's panic too
	err = s.turn(ctx, st, spec, p, opts)
	return s.target(st), err
}

// Submit records a turn of the given role, announces it and runs the handlers on
// its artifacts. It returns the state that the turn is on. Where it is appended
// and how it fails is as in Turn.
func (s *Step) Submit(ctx context.Context, st ledger.State, role ledger.Role, artifacts ...artifact.Artifact) (ledger.State, error) {
	ctx, end := s.span(ctx, "loop.submit")
	var err error
	defer func() { end(err) }()
	err = s.submit(ctx, st, role, artifacts)
	return s.target(st), err
}

func (s *Step) turn(ctx context.Context, st ledger.State, spec models.Spec, p provider.Provider, opts []provider.InvokeOption) error {
	if err := ready(ctx, p); err != nil {
		return s.fail(ctx, err)
	}
	if st == nil {
		st = s.bus.state
	}
	out := s.announcer(ctx)
	out.phase(phaseSubmitted)
	opts = slices.Concat(s.invoke, opts)
	_, arts, err := s.pipe.Turn(ctx, st, spec.Or(s.spec), p, out.artifact, opts...)
	if err != nil {
		return s.fail(ctx, interrupted(arts, err))
	}
	return s.finish(ctx, st, ledger.RoleAssistant, arts)
}

func (s *Step) submit(ctx context.Context, st ledger.State, role ledger.Role, arts []artifact.Artifact) error {
	if err := ctx.Err(); err != nil {
		return s.fail(ctx, err)
	}
	return s.finish(ctx, st, role, arts)
}

// finish appends and announces a complete turn, and runs the handlers.
func (s *Step) finish(ctx context.Context, st ledger.State, role ledger.Role, arts []artifact.Artifact) error {
	e := TurnCompleteEvent{Turn: ledger.Turn{Role: role, Artifacts: arts}}
	t, err := s.bus.emitTurn(ctx, e, s.target(st))
	if err != nil {
		return s.fail(ctx, err)
	}
	l := &latch{bus: &s.bus}
	err = s.pipe.RunHandlers(withState(ctx, s.bus.state), t.Artifacts, l)
	if late := l.release(); err == nil {
		err = late
	}
	if err != nil {
		return s.fail(ctx, err)
	}
	return nil
}

// target returns the state that turns are appended to.
func (s *Step) target(st ledger.State) ledger.State {
	if s.bus.state != nil {
		return s.bus.state
	}
	return st
}

// ready reports why a turn can't begin.
func ready(ctx context.Context, p provider.Provider) error {
	if p == nil {
		return errors.New("loop: turn without a provider")
	}
	return ctx.Err()
}

// announcer emits the events of one turn, all with the same context.
type announcer struct {
	bus       *EventBus
	ctx       context.Context // for the callbacks
	label     context.Context // of the events
	streaming bool
}

func (s *Step) announcer(ctx context.Context) *announcer {
	return &announcer{bus: &s.bus, ctx: detach(ctx), label: s.bus.eventContext(ctx)}
}

func (a *announcer) phase(name string) {
	a.bus.publish(a.ctx, LifecycleEvent{Phase: name, Ctx: a.label})
}

// artifact passes an artifact of the answer on.
func (a *announcer) artifact(art artifact.Artifact) {
	if !a.streaming {
		a.streaming = true
		a.phase(phaseStreaming)
	}
	a.bus.publish(a.ctx, ArtifactEvent{Artifact: art, Ctx: a.label})
}

// interrupted wraps a provider's failure; a transform's stays as it is.
func interrupted(arts []artifact.Artifact, err error) error {
	if _, ok := errors.AsType[*transformError](err); ok {
		return err
	}
	return &InterruptedError{Artifacts: storable(arts), Err: err}
}

// fail emits what has to be known of a failure, and returns it with the reason
// of a cancellation.
func (s *Step) fail(ctx context.Context, err error) error {
	err = withCause(ctx, err)
	if !givenUp(ctx, err) {
		s.bus.publish(detach(ctx), ErrorEvent{Err: err, Ctx: s.bus.eventContext(ctx)})
	}
	return err
}
