package loop

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// Emitter is how a Handler says something: it is given the running turn's way
// out, with the order of effects that Emit has.
type Emitter interface {
	Emit(ctx context.Context, event OutputEvent)
}

// OnEmit is called for every event, in registration order, before subscribers
// get it. Emit waits for it. The context has the values of the Emit's and no
// cancellation.
type OnEmit func(ctx context.Context, event OutputEvent)

// EventBus is the one way out of a Step: it appends complete turns to the bound
// state, calls the OnEmit callbacks, and broadcasts. All methods may be called
// from any goroutine.
type EventBus struct {
	state  ledger.State
	onEmit []OnEmit
	ctx    atomic.Pointer[context.Context] // of SetEventContext

	mu     sync.Mutex
	closed bool
	cast   atomic.Pointer[broadcast] // nil before the first subscriber
}

// Emit appends the turn of a TurnCompleteEvent to the bound state, unless it is
// already stamped; calls the OnEmit callbacks; hands the event to every
// subscriber that wants its kind; and returns. A turn that can't be appended is
// not announced, an ErrorEvent is emitted in its place. After Close there are no
// subscribers; the rest happens all the same. A pointer to an event of this
// package is announced as its value; a nil event is ignored.
func (eb *EventBus) Emit(ctx context.Context, event OutputEvent) {
	if err := eb.emit(ctx, event); err != nil {
		eb.lost(ctx, event, err)
	}
}

// lost announces that an event's turn couldn't be appended, where nobody can be
// given the error.
func (eb *EventBus) lost(ctx context.Context, event OutputEvent, err error) {
	eb.publish(detach(ctx), ErrorEvent{Err: err, Ctx: eb.ownOr(event, ctx)})
}

// emit is Emit with the failed append as its result.
func (eb *EventBus) emit(ctx context.Context, event OutputEvent) error {
	event = plain(event)
	if event == nil {
		return nil
	}
	if e, ok := event.(TurnCompleteEvent); ok {
		_, err := eb.emitTurn(ctx, e, eb.state)
		return err
	}
	if !hasContext(event) {
		event = withContext(event, eb.eventContext(ctx))
	}
	eb.publish(detach(ctx), event)
	return nil
}

// emitTurn appends the turn to st, which may be nil, and announces it. It
// returns the turn as announced.
func (eb *EventBus) emitTurn(ctx context.Context, e TurnCompleteEvent, st ledger.State) (ledger.Turn, error) {
	if e.Ctx == nil {
		e.Ctx = eb.eventContext(ctx)
	}
	if !e.Turn.Stamped() {
		t, err := record(detach(ctx), st, complete(ctx, e))
		if err != nil {
			return ledger.Turn{}, err
		}
		e.Turn = t
	}
	eb.publish(detach(ctx), e)
	return e.Turn, nil
}

// record appends the turn, if there is a state to append it to.
func record(ctx context.Context, st ledger.State, t ledger.Turn) (ledger.Turn, error) {
	if st == nil {
		return t, nil
	}
	stamped, err := st.Append(ctx, t)
	if err != nil {
		return ledger.Turn{}, &AppendError{Role: t.Role, Err: err}
	}
	return stamped, nil
}

// complete fills in what the contexts know of a turn and leaves out what must
// not be stored.
func complete(ctx context.Context, e TurnCompleteEvent) ledger.Turn {
	t := e.Turn
	if t.Provenance == "" {
		t.Provenance = firstLabel(provenanceKey{}, ctx, e.Ctx)
	}
	t.Draft = t.Draft || ledger.IsDraft(orBackground(ctx))
	t.Artifacts = storable(t.Artifacts)
	return t
}

func firstLabel(key any, ctxs ...context.Context) string {
	for _, ctx := range ctxs {
		if s, ok := label(ctx, key); ok && s != "" {
			return s
		}
	}
	return ""
}

// storable returns the artifacts without deltas, each as its stored form reads.
func storable(arts []artifact.Artifact) []artifact.Artifact {
	out := make([]artifact.Artifact, 0, len(arts))
	for _, a := range arts {
		a = artifact.Clean(a)
		if _, delta := a.(artifact.Delta); a != nil && !delta {
			out = append(out, a)
		}
	}
	return slices.Clip(out)
}

// publish runs the callbacks and the broadcast. ctx must not be cancellable.
func (eb *EventBus) publish(ctx context.Context, event OutputEvent) {
	for _, fn := range eb.onEmit {
		fn(ctx, event)
	}
	if c := eb.cast.Load(); c != nil {
		c.send(event)
	}
}

// eventContext returns the context of an event that brings none.
func (eb *EventBus) eventContext(ctx context.Context) context.Context {
	if p := eb.ctx.Load(); p != nil {
		return withSpanOf(*p, ctx)
	}
	return detach(ctx)
}

// ownOr returns the context that event brings, or else that of an event that
// brings none.
func (eb *EventBus) ownOr(event OutputEvent, ctx context.Context) context.Context {
	if event = plain(event); hasContext(event) {
		return event.Context()
	}
	return eb.eventContext(ctx)
}

// setContext is Step.SetEventContext.
func (eb *EventBus) setContext(ctx context.Context) {
	if ctx == nil || ctx == context.Background() {
		eb.ctx.Store(nil)
		return
	}
	ctx = detach(ctx)
	eb.ctx.Store(&ctx)
}

// Subscribe returns a channel of the events of the given kinds, of all kinds
// where none is given, from now on. It is closed by Close; after that, Subscribe
// returns a closed channel. No event is dropped: see FanOut.
func (eb *EventBus) Subscribe(kinds ...string) <-chan OutputEvent {
	eb.mu.Lock()
	defer eb.mu.Unlock()
	if eb.closed {
		ch := make(chan OutputEvent)
		close(ch)
		return ch
	}
	c := eb.cast.Load()
	if c == nil {
		c = newBroadcast()
		eb.cast.Store(c)
	}
	return c.fan.Subscribe(kinds...)
}

// Close ends the broadcast and closes all subscribers' channels. It never hangs
// and always returns nil.
func (eb *EventBus) Close() error {
	eb.mu.Lock()
	defer eb.mu.Unlock()
	eb.closed = true
	c := eb.cast.Swap(nil)
	if c == nil {
		return nil
	}
	return c.fan.Close()
}
