package session

import (
	"context"

	"orebot/core/ledger"
	"orebot/core/observe"
)

// maxWorkers is how many Streams have a worker at the same time, whose goroutine and thread are in memory. It is beyond what
// people cause; a restart with a long backlog reaches it.
const maxWorkers = 1000

// wake hands an entry to its thread's Stream and starts a worker where none runs.
func (m *Manager) wake(id EntryID) {
	thread, routed := m.routeOf(id.Address)
	if !routed {
		thread = m.threadAt(id)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now, ok := m.routes[id.Address]; ok { // by an entry that was woken meanwhile
		thread = now
	}
	if !m.stopping {
		m.routes[id.Address] = thread
	}
	m.hand(thread, id)
}

// wakeIn hands an entry to the Stream of the thread that holds its user turn.
func (m *Manager) wakeIn(thread ledger.ThreadID, id EntryID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hand(thread, id)
}

// hand puts an entry into a Stream's inbox. The caller holds the lock.
func (m *Manager) hand(thread ledger.ThreadID, id EntryID) {
	if m.stopping {
		return
	}
	s := m.streams[thread]
	if s == nil {
		s = &Stream{m: m, thread: thread, bell: make(chan struct{}, 1)}
		m.streams[thread] = s
	}
	s.inbox = append(s.inbox, id)
	if !s.running {
		s.running = true
		m.ready = append(m.ready, s)
		m.serve()
	} else {
		s.ring()
	}
}

// rouse gives a Stream a worker again whose messages have waited for their group to settle.
func (m *Manager) rouse(s *Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping || s.running || m.streams[s.thread] != s {
		return
	}
	s.running = true
	m.ready = append(m.ready, s)
	m.serve()
}

// serve gives workers to the Streams that have waited longest. The caller holds the lock.
func (m *Manager) serve() {
	for !m.stopping && m.busy < maxWorkers && len(m.ready) > 0 {
		s := m.ready[0]
		m.ready = m.ready[1:]
		m.busy++
		m.workers.Go(s.work)
	}
}

// release ends a worker. The caller holds the lock.
func (m *Manager) release() {
	m.busy--
	m.serve()
}

func (m *Manager) routeOf(a Address) (ledger.ThreadID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	thread, ok := m.routes[a]
	return thread, ok
}

// threadAt reads the thread that an address is bound to. One that isn't bound belongs to the thread that its first entry opens. A
// wrong guess costs a Conflict: the Stream that gets the entry finds the binding before it asks the model.
func (m *Manager) threadAt(id EntryID) ledger.ThreadID {
	st, err := m.cfg.Store.Address(context.Background(), id.Address)
	switch {
	case err != nil:
		m.cfg.Logger.Error("address unreadable", observe.KeyAddress, id.Address, observe.KeyError, err)
	case st.BindingRev != (Revision{}):
		return st.Binding.Thread
	}
	return ThreadOf(id)
}
