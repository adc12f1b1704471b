package conduit

import (
	"context"
	"maps"
	"sync"
	"time"
)

// pauseWindow is how close together two places must be told to wait for the whole method to do so.
const pauseWindow = time.Second

// pause holds back who calls one method of the platform. A place that is told to wait waits alone, with all of its addresses; a second
// place within a second shows that the platform means everybody.
type pause struct {
	now func() time.Time

	mu     sync.Mutex
	all    time.Time            // until when everybody waits
	places map[string]time.Time // until when a place does
	last   string
	at     time.Time
}

// told notes that the platform told a place to wait for d.
func (p *pause) told(place string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	end := now.Add(d)
	if p.places == nil {
		p.places = map[string]time.Time{}
	}
	maps.DeleteFunc(p.places, func(_ string, end time.Time) bool { return !end.After(now) })
	p.places[place] = later(p.places[place], end)
	if p.last != "" && p.last != place && now.Sub(p.at) <= pauseWindow {
		p.all = later(p.all, end)
	}
	p.last, p.at = place, now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// left is how long the place has to wait; 0 or less: not at all.
func (p *pause) left(place string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := later(p.all, p.places[place]); !end.IsZero() {
		return end.Sub(p.now())
	}
	return 0
}

// sitOut returns when no pause holds the address any more.
func (c *courier) sitOut(ctx context.Context, p *pause) error {
	for {
		d := p.left(c.place())
		if d <= 0 {
			return nil
		}
		if c.doze(ctx, d) != nil {
			return errStop
		}
	}
}

// place is what the platform limits together with the address.
func (c *courier) place() string { return c.cfg.Place(c.at()) }
