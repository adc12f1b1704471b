package tool

import (
	"context"
	"encoding/json"
	"regexp"
)

// Tool is something that a model may call.
type Tool struct {
	// Name is what the model calls it by: up to 64 of A–Z, a–z, 0–9, _ and -.
	Name string
	// Label is what people are told while it runs, such as "Looking at the clock"; empty: "Using" and the name.
	Label string
	// Description tells the model what it does.
	Description string
	// Parameters is the JSON Schema of the arguments, which are an object; empty: any object.
	Parameters json.RawMessage
	// Call runs it, with arguments that fit Parameters, and returns what the model is to read. It returns when ctx ends. An error
	// that the model should read is a *Failure. It is called from many goroutines at once.
	Call func(ctx context.Context, args json.RawMessage) (string, error)
}

// Failure is an error whose text is for the model: what went wrong, and what it can do about it.
type Failure struct{ Text string }

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (t Tool) label() string {
	if t.Label != "" {
		return t.Label
	}
	return "Using " + t.Name
}
