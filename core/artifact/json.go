package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Marshal returns the JSON object of a, with its kind under "kind". A type of
// another package may leave the kind out of its own JSON; it is put in front.
// Marshal fails for nil, for an empty kind, and for a type whose JSON isn't an
// object or names another kind.
func Marshal(a Artifact) ([]byte, error) {
	if a == nil {
		return nil, errors.New("artifact: marshal nil")
	}
	if u, ok := a.(Unknown); ok {
		return u.MarshalJSON()
	}
	b, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("artifact: marshal %T: %w", a, err)
	}
	if builtin(a) {
		return b, nil
	}
	return ensureKind(a, b)
}

// Unmarshal reads one artifact with the kinds of this package. See
// Registry.Unmarshal.
func Unmarshal(data []byte) (Artifact, error) {
	return (*Registry)(nil).Unmarshal(data)
}

func builtin(a Artifact) bool {
	switch a.(type) {
	case Text, TextDelta, Reasoning, ReasoningDelta, ToolCall, ToolCallDelta,
		ToolResult, Image, Usage, Finish:
		return true
	}
	return false
}

// ensureKind makes the JSON of a foreign type carry the kind.
func ensureKind(a Artifact, b []byte) ([]byte, error) {
	if !isObject(b) {
		return nil, fmt.Errorf("artifact: %T is no JSON object", a)
	}
	want := a.Kind()
	switch kind, err := kindOf(b); {
	case errors.Is(err, errNoKind):
		return withKind(b, want)
	case err != nil:
		return nil, err
	case kind != want:
		return nil, fmt.Errorf("artifact: %T of kind %q: its JSON says %q", a, want, kind)
	}
	return b, nil
}

var errNoKind = errors.New("artifact: no kind")

// kindOf reads the discriminator of a JSON object.
func kindOf(data []byte) (string, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if !isObject(data) {
		return "", errors.New("artifact: not a JSON object")
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", fmt.Errorf("artifact: %w", err)
	}
	if head.Kind == "" {
		return "", errNoKind
	}
	return head.Kind, nil
}

func isObject(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] == '{'
}

// withKind puts the kind in front of the members of a JSON object.
func withKind(obj []byte, kind string) ([]byte, error) {
	if kind == "" {
		return nil, errNoKind
	}
	k, err := json.Marshal(kind)
	if err != nil {
		return nil, fmt.Errorf("artifact: kind %q: %w", kind, err)
	}
	out := append([]byte(`{"kind":`), k...)
	rest := bytes.TrimLeft(bytes.TrimLeft(obj, " \t\r\n")[1:], " \t\r\n")
	if len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...), nil
}

// tagged marshals a type of this package behind its kind. T is the type
// without its methods, or MarshalJSON would call itself.
func tagged[T any](kind string, v T) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return withKind(b, kind)
}

type (
	plainText           Text
	plainTextDelta      TextDelta
	plainReasoning      Reasoning
	plainReasoningDelta ReasoningDelta
	plainToolCall       ToolCall
	plainToolCallDelta  ToolCallDelta
	plainToolResult     ToolResult
	plainImage          Image
	plainUsage          Usage
	plainFinish         Finish
)

// MarshalJSON returns {"kind":"text","content":…}.
func (t Text) MarshalJSON() ([]byte, error) { return tagged(KindText, plainText(t)) }

// MarshalJSON returns {"kind":"text_delta","content":…}.
func (t TextDelta) MarshalJSON() ([]byte, error) { return tagged(KindTextDelta, plainTextDelta(t)) }

// MarshalJSON returns {"kind":"reasoning","content":…}.
func (r Reasoning) MarshalJSON() ([]byte, error) { return tagged(KindReasoning, plainReasoning(r)) }

// MarshalJSON returns {"kind":"reasoning_delta","content":…}.
func (r ReasoningDelta) MarshalJSON() ([]byte, error) {
	return tagged(KindReasoningDelta, plainReasoningDelta(r))
}

// MarshalJSON returns {"kind":"tool_call","id":…,"name":…,"arguments":…}.
func (t ToolCall) MarshalJSON() ([]byte, error) { return tagged(KindToolCall, plainToolCall(t)) }

// MarshalJSON returns {"kind":"tool_call_delta","index":…,"id":…,"name":…,"arguments":…}.
func (t ToolCallDelta) MarshalJSON() ([]byte, error) {
	return tagged(KindToolCallDelta, plainToolCallDelta(t))
}

// MarshalJSON returns {"kind":"tool_result","tool_call_id":…,"content":…,"is_error":…}.
func (t ToolResult) MarshalJSON() ([]byte, error) { return tagged(KindToolResult, plainToolResult(t)) }

// MarshalJSON returns {"kind":"image","url":…}.
func (i Image) MarshalJSON() ([]byte, error) { return tagged(KindImage, plainImage(i)) }

// MarshalJSON returns {"kind":"usage","prompt_tokens":…,"completion_tokens":…,"total_tokens":…}.
func (u Usage) MarshalJSON() ([]byte, error) { return tagged(KindUsage, plainUsage(u)) }

// MarshalJSON returns {"kind":"finish","reason":…}.
func (f Finish) MarshalJSON() ([]byte, error) { return tagged(KindFinish, plainFinish(f)) }
