package models

import (
	"maps"
	"reflect"
)

// Spec names a model and how it is to be run. Every field has an unset value
// (empty, zero, nil), which leaves the choice to whoever comes next: the
// defaults of a Step, the configuration, the server.
type Spec struct {
	// Model is the name as the provider knows it, such as "qwen3:8b".
	Model string `json:"model,omitempty"`
	// Think asks a reasoning model to think: "on", "off", or a level that the
	// provider knows ("low", "medium", "high").
	Think string `json:"think,omitempty"`
	// NumCtx is the size of the context window in tokens.
	NumCtx int `json:"num_ctx,omitempty"`
	// MaxTokens bounds the answer, in tokens.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Temperature and TopP shape the sampling; nil is unset, zero is a value.
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	// Seed makes sampling repeatable; nil is unset, zero is a value.
	Seed *int `json:"seed,omitempty"`
	// Stop lists strings that end the answer; nil is unset, an empty list asks
	// for none.
	Stop []string `json:"stop,omitempty"`
	// Options are settings of the provider that have no field here, by the
	// provider's own names.
	Options map[string]any `json:"options,omitempty"`
}

// IsZero reports whether no field is set.
func (s Spec) IsZero() bool {
	return reflect.ValueOf(s).IsZero()
}

// Or returns s with each unset field taken from d. Options are merged key by
// key, those of s win. Neither s nor d is changed, and the merged map is new.
func (s Spec) Or(d Spec) Spec {
	return Spec{
		Model:       or(s.Model, d.Model),
		Think:       or(s.Think, d.Think),
		NumCtx:      or(s.NumCtx, d.NumCtx),
		MaxTokens:   or(s.MaxTokens, d.MaxTokens),
		Temperature: or(s.Temperature, d.Temperature),
		TopP:        or(s.TopP, d.TopP),
		Seed:        or(s.Seed, d.Seed),
		Stop:        orSlice(s.Stop, d.Stop),
		Options:     merge(s.Options, d.Options),
	}
}

func or[T comparable](v, d T) T {
	var unset T
	if v == unset {
		return d
	}
	return v
}

func orSlice(v, d []string) []string {
	if v == nil {
		return d
	}
	return v
}

func merge(v, d map[string]any) map[string]any {
	if v == nil && d == nil {
		return nil
	}
	out := make(map[string]any, len(v)+len(d))
	maps.Copy(out, d)
	maps.Copy(out, v)
	return out
}
