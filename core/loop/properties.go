package loop

import "context"

// PropertyOp says what a PropertyOperation does to its key.
type PropertyOp string

const (
	// PropertyOpSet gives Key the Value, which may be empty.
	PropertyOpSet PropertyOp = "set"
	// PropertyOpDelete removes Key; one that isn't there stays away.
	PropertyOpDelete PropertyOp = "delete"
)

// PropertyOperation is one step of a PropertiesEvent. Value has a meaning only
// with PropertyOpSet.
type PropertyOperation struct {
	Op    PropertyOp `json:"op"`
	Key   string     `json:"key"`
	Value string     `json:"value,omitempty"`
}

// PropertiesEvent carries changes to lasting facts about a thread (its model,
// its token counts). A receiver applies Operations in order.
type PropertiesEvent struct {
	Operations []PropertyOperation
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "properties".
func (e PropertiesEvent) Kind() string { return kindProperties }

// Context returns Ctx, or the background where it is nil.
func (e PropertiesEvent) Context() context.Context { return orBackground(e.Ctx) }
