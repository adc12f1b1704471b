package artifact

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Decoder reads the JSON object of one kind, "kind" included. It must not keep
// the bytes.
type Decoder func(raw json.RawMessage) (Artifact, error)

// Registry knows how to read artifacts from JSON: the kinds of this package,
// and those registered with it. A nil Registry knows the kinds of this package.
// Registering isn't safe beside reading; reading from many goroutines is.
type Registry struct {
	custom map[string]Decoder
}

// NewRegistry returns a Registry with the kinds of this package.
func NewRegistry() *Registry {
	return &Registry{custom: make(map[string]Decoder)}
}

// Register adds a kind of another package. It fails when the kind is empty or
// already taken.
func (r *Registry) Register(kind string, decode Decoder) error {
	_, taken := r.custom[kind]
	if kind == "" || taken || builtinDecoder(kind) != nil {
		return fmt.Errorf("artifact: register kind %q: empty or taken", kind)
	}
	r.custom[kind] = decode
	return nil
}

// Unmarshal reads one artifact. A kind that isn't registered gives an Unknown
// that holds a copy of data. It fails for anything but an object with a
// non-empty string under "kind", and for a known kind whose fields have the
// wrong type.
func (r *Registry) Unmarshal(data []byte) (Artifact, error) {
	kind, err := kindOf(data)
	if err != nil {
		return nil, err
	}
	decode := builtinDecoder(kind)
	if decode == nil && r != nil {
		decode = r.custom[kind]
	}
	if decode == nil {
		return Unknown{KindName: kind, Raw: slices.Clone(data)}, nil
	}
	a, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("artifact: unmarshal %s: %w", kind, err)
	}
	return a, nil
}

// decodeAs is the Decoder of a type whose fields are its JSON.
func decodeAs[T Artifact](raw json.RawMessage) (Artifact, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return v, nil
}

func builtinDecoder(kind string) Decoder {
	switch kind {
	case KindText:
		return decodeAs[Text]
	case KindTextDelta:
		return decodeAs[TextDelta]
	case KindReasoning:
		return decodeAs[Reasoning]
	case KindReasoningDelta:
		return decodeAs[ReasoningDelta]
	case KindToolCall:
		return decodeAs[ToolCall]
	case KindToolCallDelta:
		return decodeAs[ToolCallDelta]
	case KindToolResult:
		return decodeAs[ToolResult]
	case KindImage:
		return decodeAs[Image]
	case KindUsage:
		return decodeAs[Usage]
	case KindFinish:
		return decodeAs[Finish]
	}
	return nil
}
