package session

import "time"

// Forget evicts every Stream that has nothing to do.
func (m *Manager) Forget() { m.evictBefore(time.Now()) }

// Wake names an entry as the store's feed does.
func (m *Manager) Wake(id EntryID) { m.wake(id) }

// OpenCalls returns the calls on a path that have no result.
var OpenCalls = openCalls

// Window returns the size in bytes and the number of turns that are in memory of an address's thread, while nothing is done there.
func (m *Manager) Window(a Address) (size, turns int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.streams[m.routes[a]]
	if s == nil || s.live == nil || s.running {
		return 1 << 30, 1 << 30
	}
	return s.live.size, s.live.led.Len()
}
