package session

import "time"

// Forget evicts every Stream that has nothing to do.
func (m *Manager) Forget() { m.evictBefore(time.Now()) }
