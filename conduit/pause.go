package conduit

import (
	"context"
	"sync"
	"time"

	"orebot/core/session"
)

// pauseWindow is how close together two addresses must be told to wait for the whole conduit to do so.
const pauseWindow = time.Second

// pause holds a whole conduit back. One address that is told to wait waits alone; a second one within a second shows that the
// platform means all of them.
type pause struct {
	now func() time.Time

	mu    sync.Mutex
	until time.Time
	last  session.Address
	at    time.Time
}

// told notes that the platform told a to wait for d.
func (p *pause) told(a session.Address, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.last != "" && p.last != a && now.Sub(p.at) <= pauseWindow {
		if end := now.Add(d); end.After(p.until) {
			p.until = end
		}
	}
	p.last, p.at = a, now
}

// wait returns when no pause holds any more, or with ctx's error.
func (p *pause) wait(ctx context.Context) error {
	for {
		d := p.left()
		if d <= 0 {
			return ctx.Err()
		}
		if err := sleep(ctx, d); err != nil {
			return err
		}
	}
}

func (p *pause) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until.IsZero() {
		return 0
	}
	return p.until.Sub(p.now())
}
