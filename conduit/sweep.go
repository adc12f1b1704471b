package conduit

import (
	"context"
	"errors"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
)

const (
	// sweepPage is how many due addresses are read at once, and how many couriers may be at work for the next ones to be started.
	sweepPage = 256
	// sweepPatience is how long a page of the list waits for the couriers before it: none of them holds up the others for ever.
	sweepPatience = 10 * time.Second
)

// sweep nudges every address that is due. After a long outage there may be many thousands: they are started as others finish or wait
// for their platform, so that their threads aren't in memory at the same time.
func (c *Couriers) sweep(ctx context.Context) {
	wait := tries{b: c.cfg.Backoff, rand: c.cfg.Rand}
	for after := session.Address(""); ctx.Err() == nil; {
		page, err := c.cfg.Store.Due(ctx, c.cfg.Name, after, sweepPage)
		switch {
		case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrUnknown):
			return
		case err != nil && ctx.Err() == nil:
			c.cfg.Logger.Error("due addresses can't be listed", observe.KeyError, err)
			_ = Sleep(ctx, wait.next())
			continue
		}
		for _, a := range page {
			c.Nudge(a)
		}
		if len(page) < sweepPage {
			return
		}
		after = page[len(page)-1]
		c.room(ctx)
	}
}

// room returns when there is room for another page of couriers, when the patience is over, or with ctx.
func (c *Couriers) room(ctx context.Context) {
	patience := time.NewTimer(sweepPatience)
	defer patience.Stop()
	for c.crowded() {
		select {
		case <-c.freed:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *Couriers) crowded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.working >= sweepPage
}

// work counts the couriers that are at work: n is 1 for one more, -1 for one that ends or waits. The caller holds the lock.
func (c *Couriers) work(n int) {
	if c.working += n; n < 0 {
		select {
		case c.freed <- struct{}{}:
		default:
		}
	}
}

// doze waits for d or for ctx's end, whose error it returns. Meanwhile the courier isn't at work, and keeps nothing that it can read
// again.
func (c *courier) doze(ctx context.Context, d time.Duration) error {
	c.log.page = nil
	c.count(-1)
	defer c.count(1)
	return Sleep(ctx, d)
}

func (c *Couriers) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work(n)
}
