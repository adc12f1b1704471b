package conduit

import (
	"context"
	"strings"

	"orebot/core/ledger"
)

// overtakers is how many records behind a change of a question are looked at for a later change of it.
const overtakers = 64

// quotes reports whether an item shows what somebody wrote elsewhere. That may be edited and taken back while the item waits for its turn.
func quotes(it Item) bool { return it.Kind == Attributed || it.Retells != 0 }

// outdated returns errAgain where the item at hand shows what somebody wrote elsewhere, and doesn't read any more as it did.
func (c *courier) outdated(ctx context.Context) error {
	if !quotes(c.hand) {
		return nil
	}
	rec, ok, err := c.log.one(ctx, c.hand.Seq)
	if err != nil || !ok {
		return err
	}
	if it, ok, err := c.item(ctx, rec); err != nil {
		return err
	} else if !ok || it.Source != c.hand.Source {
		c.log.page = nil // it was read before
		return errAgain
	}
	return nil
}

// latest gives what somebody wrote elsewhere the wording of its last edit among the records behind it, where it isn't being shown yet:
// nobody needs to read it in other words first. The edit's own record changes nothing then.
func (c *courier) latest(ctx context.Context, it Item, seq ledger.Seq) (Item, error) {
	if cur := c.st.Cursor; cur.Seq == seq && cur.Offset > 0 {
		return it, nil
	}
	recs, err := c.cfg.Store.Log(ctx, c.log.thread, seq+1, overtakers)
	if err != nil {
		return it, ctx.Err() // one that can't be decoded says nothing
	}
	own := it.Source
	for _, r := range recs {
		if u := c.legs[0].Until; u != 0 && r.Seq > u {
			break
		}
		switch {
		case r.Retold != nil && r.Retold.Turn == seq: // its record was rewritten, and overtakes what was edited before
			it.Source = own
		case r.Amendment != nil && r.Amendment.Turn == seq:
			if arts, err := r.Amendment.Decode(); err == nil {
				it.Source = ledger.Turn{Artifacts: arts}.Text()
			}
		}
	}
	return it, nil
}

// overtaken reports whether a later record changes the same question, so that the one at seq needn't be shown: many edits in a row cost as
// little as the last one. What was begun is brought to its end.
func (c *courier) overtaken(ctx context.Context, question, seq ledger.Seq) (bool, error) {
	if cur := c.st.Cursor; cur.Seq == seq && (cur.Offset > 0 || cur.Attempt != nil) {
		return false, nil
	}
	recs, err := c.cfg.Store.Log(ctx, c.log.thread, seq+1, overtakers)
	if err != nil {
		return false, ctx.Err() // one that can't be decoded overtakes nothing
	}
	for _, r := range recs {
		if u := c.legs[0].Until; u != 0 && r.Seq > u {
			break
		}
		if r.Amendment != nil && r.Amendment.Turn == question || r.Retold != nil && r.Retold.Turn == question {
			return true, nil
		}
	}
	return false, nil
}

// emptied reports whether nothing is left of what somebody wrote elsewhere, and a try to show it may have come to something.
func (c *courier) emptied(it Item) bool {
	return it.Kind == Attributed && strings.TrimSpace(it.Source) == "" && c.st.Cursor.Seq == it.Seq && c.st.Cursor.Attempt != nil
}

// vanished looks for what a try of an item may have shown of which nothing is left to show, so that it can be removed; nil: nothing.
func (c *courier) vanished(ctx context.Context, it Item) (*shown, error) {
	for {
		c.enter()
		cur := c.st.Cursor
		finder, ok := c.cfg.Poster.(Finder)
		if !ok || c.mem.blind || !quotes(it) || cur.Attempt == nil || cur.Attempt.Life == c.cfg.Life && !c.mem.tried {
			return nil, nil
		}
		if c.doze(ctx, c.untilSettled()) != nil || c.sitOut(ctx, c.asking) != nil {
			return nil, errStop
		}
		ids, found, err := finder.Find(ctx, c.at(), it, cur.Offset)
		switch {
		case err == nil && found:
			return &shown{ids: ids, from: cur.Offset, next: len(it.Source)}, nil
		case err == nil:
			return nil, nil
		}
		if err := c.lookAgain(ctx, classify(err)); err != nil {
			return nil, err
		}
	}
}
