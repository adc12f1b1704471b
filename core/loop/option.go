package loop

import (
	"go.opentelemetry.io/otel/trace"

	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// Option configures a Step. An Option that adds to a list adds at its end,
// however often it is given.
type Option func(*Step)

// WithState binds the state that the Step's turns live in: every turn that is
// complete, of whatever role and origin, is appended to it before anybody is
// told. Nobody else may append the same turns. It may not be nil.
func WithState(st ledger.State) Option {
	return func(s *Step) { s.bus.state = st }
}

// WithOnEmit adds callbacks for every event of the Step.
func WithOnEmit(fns ...OnEmit) Option {
	return func(s *Step) { s.bus.onEmit = append(s.bus.onEmit, fns...) }
}

// WithTransforms adds transforms; each gets what the one before it returned.
func WithTransforms(transforms ...Transform) Option {
	return func(s *Step) { s.pipe.transforms = append(s.pipe.transforms, transforms...) }
}

// WithHandlers adds handlers for the artifacts of complete turns.
func WithHandlers(handlers ...Handler) Option {
	return func(s *Step) { s.pipe.handlers = append(s.pipe.handlers, handlers...) }
}

// WithDefaultSpec sets what a field of the Spec is where Turn is called without
// it.
func WithDefaultSpec(spec models.Spec) Option {
	return func(s *Step) { s.spec = spec }
}

// WithInvokeOptions adds options for every provider call; those of the call
// itself come after them.
func WithInvokeOptions(opts ...provider.InvokeOption) Option {
	return func(s *Step) { s.invoke = append(s.invoke, opts...) }
}

// WithTracer makes Turn and Submit spans of the tracer, "loop.turn" and
// "loop.submit" with the attribute thread_id. Events name the span in their JSON.
func WithTracer(tracer trace.Tracer) Option {
	return func(s *Step) { s.tracer = tracer }
}
