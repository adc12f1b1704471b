package conduit

import (
	"context"
	"maps"
	"sync"
	"time"
)

// pauseWindow is how close together two places must be told to wait for the whole method to do so.
const pauseWindow = time.Second

// Pauses hold back who calls a platform that asked for silence. A place that is told to wait waits alone, with all of its addresses; a
// second place within a second shows that the platform means everybody. They are safe for concurrent use.
type Pauses struct {
	now func() time.Time

	mu     sync.Mutex
	all    time.Time            // until when everybody waits
	places map[string]time.Time // until when a place does
	last   string
	at     time.Time
}

// NewPauses returns Pauses without any. A nil now is time.Now.
func NewPauses(now func() time.Time) *Pauses {
	if now == nil {
		now = time.Now
	}
	return &Pauses{now: now}
}

// Told notes that the platform told a place to wait for d.
func (p *Pauses) Told(place string, d time.Duration) {
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

// Left is how long the place has to wait; 0 or less: not at all.
func (p *Pauses) Left(place string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := later(p.all, p.places[place]); !end.IsZero() {
		return end.Sub(p.now())
	}
	return 0
}

// sitOut returns when no pause holds the address any more.
func (c *courier) sitOut(ctx context.Context, p *Pauses) error {
	for {
		d := p.Left(c.place())
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
