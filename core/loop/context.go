package loop

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"orebot/core/ledger"
)

type (
	provenanceKey struct{}
	threadIDKey   struct{}
	stateKey      struct{}
)

// StateFrom returns the state that the turn is on whose artifacts a Handler is given: the bound one of its Step. The turn is its last
// one but for those that handlers have added. Where the Step has none, ok is false.
func StateFrom(ctx context.Context) (st ledger.State, ok bool) {
	st, ok = ctx.Value(stateKey{}).(ledger.State)
	return st, ok
}

// withState is the context for the handlers of a turn on st.
func withState(ctx context.Context, st ledger.State) context.Context {
	if st == nil {
		return ctx
	}
	return context.WithValue(ctx, stateKey{}, st)
}

// WithProvenance labels a context with the address that causes what happens
// under it, so that this address isn't told what it said itself.
func WithProvenance(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, provenanceKey{}, name)
}

// ProvenanceFrom returns the address that WithProvenance set, if any. A nil
// context has none.
func ProvenanceFrom(ctx context.Context) (string, bool) {
	return label(ctx, provenanceKey{})
}

// WithThreadID labels a context with the thread that it belongs to, in the text
// form of ledger.ThreadID.
func WithThreadID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, threadIDKey{}, id)
}

// ThreadIDFrom returns the thread that WithThreadID set, if any. A nil context
// has none.
func ThreadIDFrom(ctx context.Context) (string, bool) {
	return label(ctx, threadIDKey{})
}

func label(ctx context.Context, key any) (string, bool) {
	if ctx == nil {
		return "", false
	}
	s, ok := ctx.Value(key).(string)
	return s, ok
}

// detach keeps the values of ctx and drops its cancellation and deadline.
func detach(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// withSpanOf returns ctx with the active span of from, if it has another one.
func withSpanOf(ctx, from context.Context) context.Context {
	if from == nil {
		return ctx
	}
	sc := trace.SpanContextFromContext(from)
	if !sc.IsValid() || sc.Equal(trace.SpanContextFromContext(ctx)) {
		return ctx
	}
	return trace.ContextWithSpan(ctx, trace.SpanFromContext(from))
}

// traceparent formats the active span as the W3C header of that name does,
// version 00; empty without a span.
func traceparent(ctx context.Context) string {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + sc.TraceFlags().String()
}
