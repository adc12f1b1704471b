package loop

import (
	"context"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// The kinds of the events in this package. An ArtifactEvent has the kind of its
// artifact.
const (
	kindActivity     = "activity"
	kindError        = "error"
	kindLifecycle    = "lifecycle"
	kindNotice       = "notice"
	kindProperties   = "properties"
	kindTurnComplete = "turn_complete"
)

// The phases of a turn that Step announces itself.
const (
	phaseSubmitted = "submitted"
	phaseStreaming = "streaming"
)

// OutputEvent is whatever a Step emits. Kind chooses the subscribers; Context
// says where the event comes from (ProvenanceFrom, ThreadIDFrom) and is never
// nil for the events of this package.
type OutputEvent interface {
	Kind() string
	Context() context.Context
}

// ArtifactEvent carries one artifact as the provider sent it, fragments
// included, and each block that was put together from fragments.
type ArtifactEvent struct {
	// Artifact is complete or a Delta; it may not be nil.
	Artifact artifact.Artifact
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns the kind of the artifact; it is empty without one.
func (e ArtifactEvent) Kind() string {
	if e.Artifact == nil {
		return ""
	}
	return e.Artifact.Kind()
}

// Context returns Ctx, or the background where it is nil.
func (e ArtifactEvent) Context() context.Context { return orBackground(e.Ctx) }

// TurnCompleteEvent carries a turn of any role that is complete. It is the only
// event that Emit appends to the bound state; whoever receives it gets the turn
// as it was stamped.
type TurnCompleteEvent struct {
	// Turn is appended where it isn't stamped yet.
	Turn ledger.Turn
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "turn_complete".
func (e TurnCompleteEvent) Kind() string { return kindTurnComplete }

// Context returns Ctx, or the background where it is nil.
func (e TurnCompleteEvent) Context() context.Context { return orBackground(e.Ctx) }

// LifecycleEvent marks a boundary of a turn. Phase is "submitted" when the turn
// is accepted and about to go to the provider, "streaming" when the first
// artifact has arrived, and "done" when whoever runs the turns is finished.
type LifecycleEvent struct {
	Phase string
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "lifecycle".
func (e LifecycleEvent) Kind() string { return kindLifecycle }

// Context returns Ctx, or the background where it is nil.
func (e LifecycleEvent) Context() context.Context { return orBackground(e.Ctx) }

// ErrorEvent says that a turn failed: in a transform, the provider, a handler,
// or when it was appended. Err is for the log, not for a chat.
type ErrorEvent struct {
	Err error
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "error".
func (e ErrorEvent) Kind() string { return kindError }

// Context returns Ctx, or the background where it is nil.
func (e ErrorEvent) Context() context.Context { return orBackground(e.Ctx) }

// ActivityEvent says that long work beside the model begins or ends: a command,
// a tool, anything a person may have to wait for.
type ActivityEvent struct {
	// Active is true when the work begins and false when it ends.
	Active bool
	// Description says what is being done, in words for people; it may be empty.
	Description string
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "activity".
func (e ActivityEvent) Kind() string { return kindActivity }

// Context returns Ctx, or the background where it is nil.
func (e ActivityEvent) Context() context.Context { return orBackground(e.Ctx) }

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
