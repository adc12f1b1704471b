package session

import "time"

// Forget evicts every Stream that has nothing to do.
func (m *Manager) Forget() { m.evictBefore(time.Now()) }

// Wake names an entry as the store's feed does.
func (m *Manager) Wake(id EntryID) { m.wake(id) }

// OpenCalls returns the calls on a path that have no result.
var OpenCalls = openCalls
