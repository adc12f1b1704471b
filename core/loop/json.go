package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// envelope is the "context" member of an event's JSON.
type envelope struct {
	Provenance  string `json:"provenance,omitempty"`
	ThreadID    string `json:"thread_id,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`
}

// envelopeOf returns what of ctx survives in JSON; nil where nothing does.
func envelopeOf(ctx context.Context) *envelope {
	if ctx == nil {
		return nil
	}
	var e envelope
	e.Provenance, _ = ProvenanceFrom(ctx)
	e.ThreadID, _ = ThreadIDFrom(ctx)
	e.Traceparent = traceparent(ctx)
	if e == (envelope{}) {
		return nil
	}
	return &e
}

// MarshalJSON returns the artifact's own object with the context added:
// {"kind":"text","content":…,"context":{…}}. A member "context" of the artifact,
// in whatever case, gives way to it. The event must have an artifact.
func (e ArtifactEvent) MarshalJSON() ([]byte, error) {
	b, err := artifact.Marshal(e.Artifact)
	if err != nil {
		return nil, fmt.Errorf("loop: artifact event: %w", err)
	}
	env := envelopeOf(e.Ctx)
	if env == nil {
		return b, nil
	}
	ctx, err := json.Marshal(env)
	if err != nil {
		return nil, err
	}
	if hasNoContext(e.Artifact) {
		return slices.Concat(b[:len(b)-1], []byte(`,"context":`), ctx, []byte("}")), nil
	}
	return replaceContext(b, e.Kind(), ctx)
}

// hasNoContext reports whether the members of the artifact's JSON are known, and
// none of them is a context.
func hasNoContext(a artifact.Artifact) bool {
	switch a.(type) {
	case artifact.Text, artifact.TextDelta, artifact.Reasoning, artifact.ReasoningDelta, artifact.ToolCall,
		artifact.ToolCallDelta, artifact.ToolResult, artifact.Image, artifact.Usage, artifact.Finish:
		return true
	}
	return false
}

// replaceContext makes ctx the one context of a JSON object of the given kind,
// for readers that tell case apart and for those that don't.
func replaceContext(obj []byte, kind string, ctx []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(obj, &members); err != nil {
		return nil, fmt.Errorf("loop: artifact event: %w", err)
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool {
		return strings.EqualFold(name, "context") || strings.EqualFold(name, "kind")
	})
	k, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	members["kind"], members["context"] = k, ctx
	return json.Marshal(members)
}

// MarshalJSON returns {"kind":"turn_complete","turn":{…},"context":{…}} with the
// turn in its stored form.
func (e TurnCompleteEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind    string      `json:"kind"`
		Turn    ledger.Turn `json:"turn"`
		Context *envelope   `json:"context,omitempty"`
	}{e.Kind(), e.Turn, envelopeOf(e.Ctx)})
}

// MarshalJSON returns {"kind":"lifecycle","phase":…,"context":{…}}.
func (e LifecycleEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind    string    `json:"kind"`
		Phase   string    `json:"phase"`
		Context *envelope `json:"context,omitempty"`
	}{e.Kind(), e.Phase, envelopeOf(e.Ctx)})
}

// MarshalJSON returns {"kind":"error","error":…,"context":{…}} with the text of
// the error, which is empty for nil.
func (e ErrorEvent) MarshalJSON() ([]byte, error) {
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	return json.Marshal(struct {
		Kind    string    `json:"kind"`
		Error   string    `json:"error"`
		Context *envelope `json:"context,omitempty"`
	}{e.Kind(), text, envelopeOf(e.Ctx)})
}

// MarshalJSON returns {"kind":"activity","active":…,"description":…,"context":{…}}.
func (e ActivityEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind        string    `json:"kind"`
		Active      bool      `json:"active"`
		Description string    `json:"description"`
		Context     *envelope `json:"context,omitempty"`
	}{e.Kind(), e.Active, e.Description, envelopeOf(e.Ctx)})
}

// MarshalJSON returns {"kind":"properties","operations":[…],"context":{…}}. Nil
// Operations are null.
func (e PropertiesEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind       string              `json:"kind"`
		Operations []PropertyOperation `json:"operations"`
		Context    *envelope           `json:"context,omitempty"`
	}{e.Kind(), e.Operations, envelopeOf(e.Ctx)})
}

// MarshalJSON returns {"kind":"notice","content":…,"severity":…,"context":{…}}.
// A reader treats a severity that it doesn't know as "info".
func (e NoticeEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind     string    `json:"kind"`
		Content  string    `json:"content"`
		Severity string    `json:"severity"`
		Context  *envelope `json:"context,omitempty"`
	}{e.Kind(), e.Notice.Content, e.Notice.Severity.String(), envelopeOf(e.Ctx)})
}
