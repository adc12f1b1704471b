package provider

import (
	"context"
	"encoding/json"
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
)

// Provider asks a model.
type Provider interface {
	// Invoke shows the turns of st to the model that spec names and sends what
	// it answers to ch, in order: deltas as they come, complete artifacts, the
	// Usage, and a Finish where the answer was cut.
	//
	// Invoke returns when the answer is complete (nil), has failed (an *Error),
	// or ctx is done. It doesn't close ch, sends nothing after it has returned,
	// and gives up a send when ctx is done. It doesn't change st.
	Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...InvokeOption) error
}

// Finish says that an answer ended before it was complete: Reason "length" when
// it ran into the token limit. A Provider sends it last, and only then; a turn
// without one ended by itself. It is stored with its turn.
type Finish = artifact.Finish

// Tool describes a tool that the model may call. Parameters is a JSON Schema of
// the arguments object.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Invocation is what the options of one call come to.
type Invocation struct {
	Tools []Tool
}

// InvokeOption changes one call.
type InvokeOption func(*Invocation)

// Apply returns what the options come to, applied in order. A nil option is
// skipped.
func Apply(opts ...InvokeOption) Invocation {
	var inv Invocation
	for _, o := range opts {
		if o != nil {
			o(&inv)
		}
	}
	return inv
}

// WithTools offers tools to the model, besides those that earlier options
// offered. A tool of the same name takes the earlier one's place.
func WithTools(tools ...Tool) InvokeOption {
	return func(inv *Invocation) {
		for _, t := range tools {
			inv.add(t)
		}
	}
}

// WithoutTools offers none of the tools that earlier options offered.
func WithoutTools() InvokeOption {
	return func(inv *Invocation) { inv.Tools = nil }
}

func (inv *Invocation) add(t Tool) {
	i := slices.IndexFunc(inv.Tools, func(o Tool) bool { return o.Name == t.Name })
	if i < 0 {
		inv.Tools = append(inv.Tools, t)
		return
	}
	inv.Tools[i] = t
}
