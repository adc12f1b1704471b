package loop

import (
	"context"
	"sync"
)

// latch is the Emitter of the handlers of one turn. It keeps the first append
// that failed, because Emit has no result and a turn that goes on without, say,
// a tool's result would go wrong.
type latch struct {
	bus *EventBus
	mu  sync.Mutex
	err error
}

// Emit does what EventBus.Emit does, without the ErrorEvent: the turn that runs
// the handlers emits it.
func (l *latch) Emit(ctx context.Context, event OutputEvent) {
	if err := l.bus.emit(ctx, event); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.err == nil {
			l.err = err
		}
	}
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
