package loop

import (
	"context"
	"encoding/json"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// The names and signatures that the seed document owes. It fails to compile
// where one is missing or differs.
var (
	_ func(context.Context) (string, bool)          = ProvenanceFrom
	_ func(context.Context) (string, bool)          = ThreadIDFrom
	_ func(context.Context, string) context.Context = WithProvenance
	_ func(context.Context, string) context.Context = WithThreadID
	_ func(<-chan outputEventEnvelope) *FanOut      = NewFanOut
	_ func(*FanOut) error                           = (*FanOut).Close
	_ func(*FanOut, ...string) <-chan OutputEvent   = (*FanOut).Subscribe
	_ func(*EventBus) error                         = (*EventBus).Close
	_ func(*EventBus, context.Context, OutputEvent) = (*EventBus).Emit
	_ func(*EventBus, ...string) <-chan OutputEvent = (*EventBus).Subscribe
	_ func(...Option) *Step                         = New
	_ func(*Step) error                             = (*Step).Close
	_ func(*Step, context.Context, OutputEvent)     = (*Step).Emit
	_ func(*Step, context.Context)                  = (*Step).SetEventContext
	_ func(*Step, ...string) <-chan OutputEvent     = (*Step).Subscribe
	_ func(models.Spec) Option                      = WithDefaultSpec
	_ func(...Handler) Option                       = WithHandlers
	_ func(...provider.InvokeOption) Option         = WithInvokeOptions
	_ func(...OnEmit) Option                        = WithOnEmit
	_ func(ledger.State) Option                     = WithState
	_ func(trace.Tracer) Option                     = WithTracer
	_ func(...Transform) Option                     = WithTransforms
	_ func(context.Context, OutputEvent)            = OnEmit(nil)
	_ func(*Step)                                   = Option(nil)
	_ func(Severity) string                         = Severity.String
	_ uint8                                         = uint8(SeveritySuccess)
	_ string                                        = string(PropertyOpSet + PropertyOpDelete)
	_ TurnExecutor                                  = (*Step)(nil)
	_ TurnRunner                                    = TurnExecutor(nil)
	_ TurnSubmitter                                 = TurnExecutor(nil)
	_ Emitter                                       = (*Step)(nil)
	_ Emitter                                       = (*EventBus)(nil)
	_ Handler                                       = handle(nil)
	_ Transform                                     = transform(nil)
	_                                               = []Severity{SeveritySuccess, SeverityInfo, SeverityWarn, SeverityError}
	_                                               = Notice{Content: "", Severity: SeverityInfo}
	_                                               = PropertyOperation{Op: PropertyOpSet, Key: "", Value: ""}
)

var _ func(*Pipeline, context.Context, ledger.State, models.Spec, provider.Provider, func(artifact.Artifact), ...provider.InvokeOption) (ledger.State, []artifact.Artifact, error) = (*Pipeline).Turn

var _ func(*Pipeline, context.Context, []artifact.Artifact, Emitter) error = (*Pipeline).RunHandlers

// event is what every event of the seed is.
type event interface {
	OutputEvent
	json.Marshaler
}

// none is the context of an event that brings none.
var none context.Context

func events(ctx context.Context) map[string]event {
	return map[string]event{
		"activity":      ActivityEvent{Active: true, Description: "search", Ctx: ctx},
		"text":          ArtifactEvent{Artifact: text("a"), Ctx: ctx},
		"error":         ErrorEvent{Err: errDisk, Ctx: ctx},
		"lifecycle":     LifecycleEvent{Phase: "submitted", Ctx: ctx},
		"notice":        NoticeEvent{Notice: Notice{Content: "c", Severity: SeverityWarn}, Ctx: ctx},
		"properties":    PropertiesEvent{Operations: []PropertyOperation{{Op: PropertyOpSet, Key: "k", Value: "v"}, {Op: PropertyOpDelete, Key: "k"}}, Ctx: ctx},
		"turn_complete": TurnCompleteEvent{Turn: ledger.Turn{ID: ledger.TurnID{Seq: 1}, Role: ledger.RoleUser, Artifacts: []artifact.Artifact{text("a")}}, Ctx: ctx},
	}
}

func TestKindsAndContexts(t *testing.T) {
	ctx := WithProvenance(t.Context(), "x")
	for kind, e := range events(ctx) {
		if e.Kind() != kind || e.Context() != ctx {
			t.Errorf("%T: kind %q", e, e.Kind())
		}
	}
	for kind, e := range events(none) {
		if e.Context() == nil {
			t.Errorf("%s: nil context", kind)
		}
	}
	if (ArtifactEvent{}).Kind() != "" {
		t.Error("kind of nothing")
	}
}

func TestSeverity(t *testing.T) {
	var zero Severity
	for s, want := range map[Severity]string{zero: "success", SeverityInfo: "info", SeverityWarn: "warn", SeverityError: "error", 4: "4", 255: "255"} {
		if s.String() != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
}
