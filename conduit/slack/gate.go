package slack

import (
	"context"
	"sync"
	"time"

	"orebot/conduit"
)

const (
	stable   = time.Minute      // a connection that lived so long was a good one
	firstGap = time.Second / 2  // between the first two opens in a row
	lastGap  = 15 * time.Second // …and between those after the sixth
)

// gate keeps connections from being opened as fast as Slack may end them. The gaps between opens double from half a second to 15 s: eight
// in the first minute, four in every later one. A connection that lasted for a minute starts the row anew.
type gate struct {
	now func() time.Time

	mu   sync.Mutex
	last time.Time // the last open that was let through
	held time.Time // Slack said that it wants no open before
	row  int       // opens since the last good connection
}

// wait returns when a connection may be opened, or with ctx's error.
func (g *gate) wait(ctx context.Context) error {
	return conduit.Sleep(ctx, g.next())
}

// next books the next open and returns how long it has to wait.
func (g *gate) next() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if g.row > 0 && now.Sub(g.last) >= stable {
		g.row = 0
	}
	at := now
	if g.held.After(at) {
		at = g.held
	}
	if g.row > 0 {
		if due := g.last.Add(min(firstGap<<min(g.row-1, 10), lastGap)); due.After(at) {
			at = due
		}
	}
	g.row++
	g.last = at
	return at.Sub(now)
}

// hold keeps the gate closed for d.
func (g *gate) hold(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = g.now().Add(d)
}

// stormy reports whether connections end as soon as they are open; the last one must have, too.
func (g *gate) stormy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.row > 3 && g.now().Sub(g.last) < stable
}

// recent is how many connections were opened since the last good one.
func (g *gate) recent() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.row
}
