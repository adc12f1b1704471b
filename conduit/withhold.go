package conduit

import (
	"context"
	"strings"

	"orebot/core/observe"
	"orebot/core/session"
)

// maxUnsure is how often in a row it may be unknown who reads at an address, until nobody is taken to: some five minutes. Nobody is shown
// what isn't for them, and what follows isn't held up for ever.
const maxUnsure = 12

// withheld reports whether the item at hand isn't for whoever reads at the address now. One of which nothing is left to show is for all:
// what was taken back goes everywhere.
func (c *courier) withheld(ctx context.Context) (bool, error) {
	it := c.hand
	if c.cfg.Reads == nil || it.always || strings.TrimSpace(it.Source) == "" {
		return false, nil
	}
	for {
		ok, err := c.cfg.Reads(ctx, c.a, it.asked)
		if err == nil {
			c.unsure = 0
			return !ok, nil
		}
		if ctx.Err() != nil {
			return false, errStop
		}
		c.once("readers unknown", err)
		if c.unsure++; c.unsure >= maxUnsure {
			return true, nil
		}
		if err := c.backOff(ctx); err != nil {
			return false, err
		}
	}
}

// withhold moves on from an item that isn't for whoever reads at the address: it isn't shown later either. What has been posted of it
// stays. The address's own messages that it ended count as undeliverable.
func (c *courier) withhold(ctx context.Context, it Item) (idle bool, err error) {
	c.slog.Debug("withheld", observe.KeySeq, uint64(it.Seq))
	rec, ok, err := c.log.one(ctx, it.Seq)
	if err != nil || !ok {
		return false, err
	}
	ids, err := c.endedBy(ctx, rec)
	if err != nil {
		return false, err
	}
	writes, err := c.undeliverable(ctx, ids)
	if err != nil {
		return false, err
	}
	for len(writes) > 0 {
		n := min(len(writes), buryWrites)
		if err := c.all(ctx, session.Batch{Entries: writes[:n:n]}); err != nil {
			return false, err
		}
		writes = writes[n:]
	}
	c.retired = c.retired[:0]
	return c.finish(ctx, it, nil)
}

// stale returns errAgain where the item at hand isn't to be shown as it is any more, since time has gone by: it reads otherwise, or
// whoever reads at the address may not be shown it.
func (c *courier) stale(ctx context.Context) error {
	if err := c.outdated(ctx); err != nil {
		return err
	}
	switch no, err := c.withheld(ctx); {
	case err != nil:
		return err
	case no:
		return errAgain
	}
	return nil
}
