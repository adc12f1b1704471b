package storetest

import (
	"context"

	"orebot/core/session"
)

// watcher is one Watch: what it has still to name.
type watcher struct {
	backlog []session.EntryID
	wake    chan struct{}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Watch implements session.Feed. It returns session.ErrClosed when the Memory is closed.
func (m *Memory) Watch(ctx context.Context, f func(session.EntryID)) error {
	w := &watcher{wake: make(chan struct{}, 1)}
	m.watch(w)
	defer m.unwatch(w)
	for {
		ids, closed := m.takeBacklog(w)
		for _, id := range ids {
			f(id)
		}
		if closed {
			return session.ErrClosed
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
	}
}

// watch adds a watcher whose backlog is everything that waits.
func (m *Memory) watch(w *watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries("", func(e session.Entry) bool { return e.State.Waits() }) {
		w.backlog = append(w.backlog, e.ID)
	}
	m.watchers[w] = true
}

func (m *Memory) unwatch(w *watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.watchers, w)
}

func (m *Memory) takeBacklog(w *watcher) ([]session.EntryID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := w.backlog
	w.backlog = nil
	return ids, m.closed
}
