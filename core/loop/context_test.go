package loop

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
)

func TestLabels(t *testing.T) {
	ctx := WithThreadID(WithProvenance(context.Background(), "p"), "t")
	if p, ok := ProvenanceFrom(ctx); p != "p" || !ok {
		t.Errorf("provenance %q, %v", p, ok)
	}
	if id, ok := ThreadIDFrom(ctx); id != "t" || !ok {
		t.Errorf("thread %q, %v", id, ok)
	}
	if p, ok := ProvenanceFrom(WithProvenance(ctx, "")); p != "" || !ok {
		t.Error("an empty label is a label")
	}
	for _, ctx := range []context.Context{context.Background(), nil} {
		if _, ok := ProvenanceFrom(ctx); ok {
			t.Error("a provenance from nowhere")
		}
		if _, ok := ThreadIDFrom(ctx); ok {
			t.Error("a thread from nowhere")
		}
	}
}

// Which context an event ends up with.
func TestEventContext(t *testing.T) {
	p := func(name string) context.Context { return WithProvenance(context.Background(), name) }
	tests := []struct {
		name            string
		set, emit, own  context.Context
		want            string
		clearedWith     context.Context
		wantAfterwards  string
		callsSetContext bool
	}{
		{name: "nothing", emit: context.Background()},
		{name: "of the Emit", emit: p("emit"), want: "emit", wantAfterwards: "emit"},
		{name: "set", set: p("set"), emit: p("emit"), want: "set", wantAfterwards: "emit", callsSetContext: true},
		{name: "set, cleared with the background", set: p("set"), emit: p("emit"), want: "set", clearedWith: context.Background(), wantAfterwards: "emit", callsSetContext: true},
		{name: "own", set: p("set"), emit: p("emit"), own: p("own"), want: "own", wantAfterwards: "own", callsSetContext: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &diary{}
			s := New(WithOnEmit(d.on))
			if tt.callsSetContext {
				s.SetEventContext(tt.set)
			}
			for kind, ev := range events(tt.own) {
				s.Emit(tt.emit, ev)
				last := d.events[len(d.events)-1]
				if got, _ := ProvenanceFrom(last.Context()); got != tt.want {
					t.Errorf("%s: got %q, want %q", kind, got, tt.want)
				}
			}
			s.SetEventContext(tt.clearedWith)
			s.Emit(tt.emit, NoticeEvent{Ctx: tt.own})
			if got, _ := ProvenanceFrom(d.events[len(d.events)-1].Context()); got != tt.wantAfterwards {
				t.Errorf("afterwards: got %q, want %q", got, tt.wantAfterwards)
			}
		})
	}
}

// Who gives up a turn doesn't take back what was said: no event, callback or
// append gets a context that is cancelled.
func TestCancellationDoesNotTravel(t *testing.T) {
	gone, cancel := context.WithCancel(WithProvenance(t.Context(), "p"))
	cancel()
	var callbacks int
	s := New(WithState(strict{ledger.NewBuffer()}), WithOnEmit(func(ctx context.Context, ev OutputEvent) {
		callbacks++
		if ctx.Err() != nil || ev.Context().Err() != nil {
			t.Errorf("%s: cancelled", tell(ev))
		}
	}))
	s.Emit(gone, lifecycle("x"))
	s.Emit(gone, said(ledger.RoleUser, "x"))
	s.SetEventContext(gone)
	s.Emit(t.Context(), lifecycle("x"))
	if callbacks != 3 {
		t.Errorf("%d callbacks", callbacks)
	}
}

// strict is a State that won't append under a cancelled context.
type strict struct{ *ledger.Buffer }

func (s strict) Append(ctx context.Context, t ledger.Turn) (ledger.Turn, error) {
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	return s.Buffer.Append(ctx, t)
}

func TestTurnTakesItsLabelsFromTheContext(t *testing.T) {
	p := func(name string) context.Context { return WithProvenance(context.Background(), name) }
	for name, tt := range map[string]struct {
		set, call context.Context
		want      string
	}{
		"call":           {nil, p("call"), "call"},
		"event context":  {p("set"), context.Background(), "set"},
		"call over set":  {p("set"), p("call"), "call"},
		"empty is unset": {p("set"), p(""), "set"},
		"none":           {nil, context.Background(), ""},
	} {
		st := ledger.NewBuffer()
		s := New(WithState(st))
		s.SetEventContext(tt.set)
		if _, err := s.Submit(tt.call, nil, ledger.RoleUser, text("q")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Turn(ledger.WithDraft(tt.call), nil, models.Spec{}, says(text("a"))); err != nil {
			t.Fatal(err)
		}
		turns := st.Turns()
		if turns[0].Provenance != tt.want || turns[1].Provenance != tt.want {
			t.Errorf("%s: provenance %q and %q", name, turns[0].Provenance, turns[1].Provenance)
		}
		if turns[0].Draft || !turns[1].Draft {
			t.Errorf("%s: drafts %v and %v", name, turns[0].Draft, turns[1].Draft)
		}
	}
}

func TestSpans(t *testing.T) {
	rec := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec)).Tracer("test")
	d := &diary{}
	s := New(WithTracer(tracer), WithState(ledger.NewBuffer()), WithOnEmit(d.on))
	s.SetEventContext(WithProvenance(context.Background(), "p"))
	ctx := WithThreadID(t.Context(), "th")
	if _, err := s.Submit(ctx, nil, ledger.RoleUser, text("q")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Turn(ctx, nil, models.Spec{}, &speaker{lines: []artifact.Artifact{delta("a")}, err: errDisk}); err == nil {
		t.Fatal("no error")
	}
	spans := rec.Ended()
	if len(spans) != 2 || spans[0].Name() != "loop.submit" || spans[1].Name() != "loop.turn" {
		t.Fatalf("got %v", spans)
	}
	for _, span := range spans {
		if got := span.Attributes(); len(got) != 1 || got[0] != attribute.String("thread_id", "th") {
			t.Errorf("%s: attributes %v", span.Name(), got)
		}
	}
	if spans[0].Status().Code == codes.Error || spans[1].Status().Code != codes.Error {
		t.Errorf("status %v and %v", spans[0].Status(), spans[1].Status())
	}
	for i, ev := range d.events {
		want := spans[min(i, 1)].SpanContext()
		if got := trace.SpanContextFromContext(ev.Context()); !got.Equal(want) {
			t.Errorf("%s: span %v, want %v", tell(ev), got.SpanID(), want.SpanID())
		}
		if p, _ := ProvenanceFrom(ev.Context()); p != "p" {
			t.Errorf("%s: provenance %q", tell(ev), p)
		}
		parent := fmt.Sprintf(`"traceparent":"00-%s-%s-01"`, want.TraceID(), want.SpanID())
		if got := asJSON(t, ev); !strings.Contains(got, parent) {
			t.Errorf("%s: %s, want %s in it", tell(ev), got, parent)
		}
	}
}

// A span ends even where a callback panics in the middle of it.
func TestSpanOfAPanic(t *testing.T) {
	rec := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec)).Tracer("test")
	s := New(WithTracer(tracer), WithOnEmit(func(context.Context, OutputEvent) { panic("callback") }))
	for _, run := range []func(){
		func() { _, _ = s.Turn(t.Context(), nil, models.Spec{}, says(text("a"))) },
		func() { _, _ = s.Submit(t.Context(), nil, ledger.RoleUser, text("q")) },
	} {
		func() {
			defer func() { _ = recover() }()
			run()
		}()
	}
	if n := len(rec.Ended()); n != 2 {
		t.Errorf("%d spans ended", n)
	}
}
