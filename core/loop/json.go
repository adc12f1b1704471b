package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

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
// {"kind":"text","content":…,"context":{…}}. A member "context" of the artifact
// gives way to it. The event must have an artifact.
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
	return addContext(b, ctx)
}

// addContext adds the member "context" to a JSON object that has a member.
func addContext(obj, ctx []byte) ([]byte, error) {
	if bytes.Contains(obj, []byte(`"context"`)) {
		return replaceContext(obj, ctx)
	}
	obj = bytes.TrimRight(obj, " \t\r\n")
	out := make([]byte, 0, len(obj)+len(ctx)+len(`,"context":`))
	out = append(out, obj[:len(obj)-1]...)
	out = append(out, `,"context":`...)
	out = append(out, ctx...)
	return append(out, '}'), nil
}

func replaceContext(obj, ctx []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(obj, &members); err != nil {
		return nil, fmt.Errorf("loop: artifact event: %w", err)
	}
	members["context"] = ctx
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
