package conduit

import (
	"context"
	"time"
)

// settlePoll is how often Settle looks. It runs only while a process ends.
const settlePoll = 10 * time.Millisecond

// Settle returns when no courier is at work, or when ctx ends. One that waits for its platform is at work; an address whose courier
// has stopped for this life isn't.
func (c *Couriers) Settle(ctx context.Context) {
	for c.busy() && Sleep(ctx, settlePoll) == nil {
		continue
	}
}

// busy reports whether any courier runs.
func (c *Couriers) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.table {
		if j.running {
			return true
		}
	}
	return false
}
