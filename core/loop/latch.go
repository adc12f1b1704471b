package loop

import (
	"context"
	"sync"
)

// latch is the Emitter of the handlers of one turn. It keeps the first append
// that failed, because Emit has no result and a turn that goes on without, say,
// a tool's result would go wrong. Once the turn is over there is nobody left to
// tell: a handler that still emits then gets what any other Emit gets.
type latch struct {
	bus  *EventBus
	mu   sync.Mutex
	err  error
	over bool
}

// Emit does what EventBus.Emit does; while the turn runs, without the
// ErrorEvent: the turn emits it.
func (l *latch) Emit(ctx context.Context, event OutputEvent) {
	if err := l.bus.emit(ctx, event); err != nil && !l.keep(err) {
		l.bus.lost(ctx, event, err)
	}
}

// keep takes an error for the turn, if it still runs.
func (l *latch) keep(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	return !l.over
}

// release ends the turn's interest and returns what was kept until then.
func (l *latch) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return l.err
}

// latched returns what e kept, if e is a latch.
func latched(e Emitter) error {
	l, ok := e.(*latch)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
