package loop

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"orebot/core/artifact"
)

var update = flag.Bool("update", false, "write the golden files")

func labelled() context.Context {
	ctx := WithThreadID(WithProvenance(context.Background(), "slack:T1/C1"), "ab")
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: 2}, TraceFlags: trace.FlagsSampled,
	}))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestEventJSON(t *testing.T) {
	for kind, e := range events(labelled()) {
		golden(t, kind, asJSON(t, e))
	}
	for kind, e := range events(context.Background()) {
		golden(t, kind+"_bare", asJSON(t, e))
	}
	golden(t, "properties_nil", asJSON(t, PropertiesEvent{}))
	golden(t, "notice_zero", asJSON(t, NoticeEvent{}))
	golden(t, "notice_unknown", asJSON(t, NoticeEvent{Notice: Notice{Severity: 9}}))
	golden(t, "error_nil", asJSON(t, ErrorEvent{}))
	golden(t, "thread_only", asJSON(t, LifecycleEvent{Phase: "done", Ctx: WithThreadID(context.Background(), "ab")}))
}

// Whatever an artifact of a later version looks like, its event is JSON whose kind and context are the ones we mean.
func FuzzArtifactEventJSON(f *testing.F) {
	f.Add([]byte(`{"kind":"odd","context":{"mine":1}}`))
	f.Add([]byte(` {"\u0063ontext":1,"kind":"odd","Context":"x"} `))
	f.Add([]byte(`{"kind":"text","content":"context"}`))
	ctx := WithProvenance(context.Background(), "p")
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := artifact.Unmarshal(data)
		if err != nil {
			return
		}
		var got struct {
			Kind    string    `json:"kind"`
			Context *envelope `json:"context"`
		}
		text := asJSON(t, ArtifactEvent{Artifact: a, Ctx: ctx})
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s became %s: %v", data, text, err)
		}
		if got.Kind != a.Kind() || got.Context == nil || *got.Context != (envelope{Provenance: "p"}) {
			t.Fatalf("%s became %s", data, text)
		}
	})
}

func TestArtifactEventJSONOfOddArtifacts(t *testing.T) {
	ctx := WithProvenance(context.Background(), "p")
	got := asJSON(t, ArtifactEvent{Ctx: ctx, Artifact: artifact.Unknown{
		KindName: "odd", Raw: json.RawMessage(`{"kind":"odd","context":{"mine":1}}`),
	}})
	if want := `{"context":{"provenance":"p"},"kind":"odd"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if b, err := json.Marshal(ArtifactEvent{Ctx: ctx}); err == nil {
		t.Errorf("no artifact gave %s", b)
	}
}
