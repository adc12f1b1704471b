// Package loop runs one turn of a conversation: it shows a model what was said,
// passes on what the model answers as it comes, keeps the complete turn, and
// lets handlers act on it.
//
// A Step does this for one thread. It is made of two parts. The EventBus is the
// one way out for everything that can be observed: it appends complete turns to
// the bound state, calls the OnEmit callbacks, and broadcasts through a FanOut.
// The Pipeline is the one way through a turn: transforms, the provider, the
// merging of deltas, handlers.
//
//	Turn, Submit                Emit
//	     │                        │
//	     ▼    onArtifact          ▼
//	 Pipeline ───────────────► EventBus ──► state, OnEmit (in order, blocking)
//	transforms                    │
//	provider                      ▼
//	accumulator                FanOut ──► subscribers (channels)
//	handlers
//
// # Order
//
// Turn emits "submitted", then what the provider sends (with "streaming" before
// the first artifact), then the complete turn, and runs the handlers. Each Emit
// has three effects, in this order: a TurnCompleteEvent is appended to the bound
// state; the OnEmit callbacks run in registration order; the event is handed to
// every subscriber that wants its kind. Emit returns after the last of them. The
// event that callbacks and subscribers get carries the turn as it was stamped.
//
// Nothing is appended twice: a turn that is already stamped passes by the state.
// A turn that can't be appended is never announced: Turn or Submit returns an
// *AppendError and an ErrorEvent is emitted. An append that fails inside a
// handler's Emit makes the running Turn or Submit return that error.
//
// # Failures
//
// A provider, a transform or a handler that fails ends its turn with an error and
// an ErrorEvent; one that panics does too (*PanicError), and the Step can be used
// again. What had come in of an answer is in the *InterruptedError. A turn that
// somebody gave up ends without an ErrorEvent. A panic in an OnEmit callback
// passes through Emit, Turn or Submit to their caller.
//
// # Context
//
// Events carry a context that says where they come from (WithProvenance,
// WithThreadID, and the active span). It never carries cancellation: who gives
// up a turn doesn't take back what was already said. An event that brings its
// own context keeps it; otherwise it gets the one of SetEventContext, and where
// there is none, that of the Emit.
//
// # Subscribers
//
// A subscription is live: it starts with the next event, and history is read
// from the state. No event is dropped: a subscriber may lag 100,000 events
// behind, and holds up its own Step after that. What a subscriber costs follows
// its lag.
//
// # Goroutines
//
// Emit, Subscribe, SetEventContext and Close may be called from any goroutine.
// Turn and Submit belong to one goroutine at a time, the one that owns the
// thread. Where Emit is called from several goroutines at once, OnEmit callbacks
// may run at the same time; all subscribers still see one order, which for turns
// that were emitted at the same moment needn't be that of the state: their ids
// tell. A callback may call any of these itself; it must not wait for a
// subscriber to get the event that it was called with. A Step that was ever
// subscribed to owns one goroutine until Close; a lagging subscriber owns
// one more while it lags.
package loop
