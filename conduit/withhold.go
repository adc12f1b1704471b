package conduit

import (
	"context"
	"errors"
	"strings"

	"orebot/core/observe"
)

// maxUnsure is how often in a row it may be unknown who reads at an address, until nobody is taken to: longer than most outages take.
// Nobody is shown what isn't for them, and what follows isn't held up for ever.
const maxUnsure = 60

// errUnsure says that it can't be told now who reads at an address.
var errUnsure = errors.New("conduit: who reads there can't be told now")

// withheld reports whether the item at hand isn't for whoever reads at the address now, or returns errUnsure: then everything is to be
// read again, after a while. One of which nothing is left to show is for all: what was taken back goes everywhere. What answers a message
// of the address never waits to hear who reads there.
func (c *courier) withheld(ctx context.Context) (bool, error) {
	it := c.hand
	if c.cfg.Reads == nil || it.always || strings.TrimSpace(it.Source) == "" {
		return false, nil
	}
	ok, err := c.cfg.Reads(ctx, c.a, it.asked)
	switch {
	case err == nil:
		if !it.own {
			c.unsure = 0
		}
		return !ok, nil
	case ctx.Err() != nil:
		return false, errStop
	case it.own:
		return false, nil
	}
	c.once("readers unknown", err)
	if c.unsure++; c.unsure >= maxUnsure || classify(err).permanent() {
		return true, nil
	}
	return false, errUnsure
}

// withhold moves on from an item that isn't for whoever reads at the address: it isn't shown later either. What has been posted of it
// stays. The address's own messages that it ended count as undeliverable.
func (c *courier) withhold(ctx context.Context, it Item) (idle bool, err error) {
	c.slog.Debug("withheld", observe.KeySeq, uint64(it.Seq))
	rec, ok, err := c.log.next(ctx, it.Seq)
	switch {
	case err != nil:
		return false, err
	case !ok || rec.Seq != it.Seq: // deleted meanwhile
		return false, errAgain
	}
	ids, err := c.endedBy(ctx, rec)
	if err != nil {
		return false, err
	}
	if _, err := c.markUnseen(ctx, ids, 0); err != nil {
		return false, err
	}
	c.retired = c.retired[:0]
	return c.finish(ctx, it, nil)
}

// stale returns errAgain where the item at hand isn't to be shown as it is any more, since time has gone by: whoever reads at the address
// may not be shown it, or it reads otherwise. To ask who reads there may take a while, so it comes first, and nothing is shown of which this
// process isn't in charge by then.
func (c *courier) stale(ctx context.Context) error {
	switch no, err := c.withheld(ctx); {
	case err != nil:
		return err
	case no:
		return errAgain
	}
	if err := c.outdated(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil || !c.cfg.Lease.Valid() {
		return errStop
	}
	return nil
}
