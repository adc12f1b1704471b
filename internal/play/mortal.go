package play

import (
	"context"
	"sync"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// mortal is the store as one life of the process sees it: once that is killed, nothing more is written.
type mortal struct {
	*storetest.Memory
	dead chan struct{}

	mu      sync.Mutex
	gone    bool
	left    int  // commits until it dies, 0: it doesn't
	applied bool // the last one is written all the same
}

func newMortal(m *storetest.Memory) *mortal { return &mortal{Memory: m, dead: make(chan struct{})} }

// Commit implements session.Committer. Nobody learns what became of the one at which the process dies.
func (m *mortal) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	m.mu.Lock()
	last := false
	if m.left > 0 {
		m.left--
		last = m.left == 0
	}
	gone, applied := m.gone, m.applied
	m.mu.Unlock()
	if last {
		m.die()
	}
	switch {
	case !gone && !last:
		m.Memory.Commit(ctx, b, done)
	case last && applied:
		m.Memory.Commit(ctx, b, func(session.Result, error) { done(session.Result{}, session.ErrUnknown) })
	default:
		go done(session.Result{}, session.ErrClosed)
	}
}

// dieAt lets the process be killed at the n-th commit from now.
func (m *mortal) dieAt(n int, applied bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left, m.applied = n, applied
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.gone {
		m.gone = true
		close(m.dead)
	}
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}
