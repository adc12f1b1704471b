package loop

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// span starts a span, if there is a tracer, and returns how to end it.
func (s *Step) span(ctx context.Context, name string) (context.Context, func(error)) {
	if s.tracer == nil {
		return ctx, func(error) {}
	}
	id := firstLabel(threadIDKey{}, ctx, s.bus.eventContext(ctx))
	ctx, span := s.tracer.Start(ctx, name, trace.WithAttributes(attribute.String("thread_id", id)))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, "failed")
		}
		span.End()
	}
}
