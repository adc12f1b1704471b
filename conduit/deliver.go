package conduit

import (
	"context"
	"slices"

	"orebot/core/observe"
	"orebot/core/session"
)

// shown is the end that a part came to: posted, found, or given up (then without ids).
type shown struct {
	ids  []string
	from int // its offset in the source
	next int // where the source goes on
}

// deliver shows what is left of an item, part by part, and moves the cursor behind it. idle: nothing follows.
func (c *courier) deliver(ctx context.Context, it Item) (idle bool, err error) {
	if c.st.Cursor.Seq != it.Seq {
		c.st.Cursor = c.before(it)
	}
	c.hand = it
	if no, err := c.withheld(ctx); err != nil {
		return false, err
	} else if no {
		return c.withhold(ctx, it)
	}
	if it.Retells != 0 {
		if it, err = c.retell(ctx, it); err != nil {
			return false, err
		}
	}
	off, ok := c.locate(it, c.st.Cursor.Offset)
	if !ok {
		s, err := c.vanished(ctx, it)
		if err != nil {
			return false, err
		}
		return c.finish(ctx, it, s)
	}
	if off != c.st.Cursor.Offset {
		c.st.Cursor.Offset, c.st.Cursor.Attempt = off, nil
	}
	for {
		s, err := c.show(ctx, it)
		if err != nil {
			return false, err
		}
		if off, ok = c.locate(it, s.next); !ok {
			return c.finish(ctx, it, &s)
		}
		if err := c.pass(ctx, it, s, off); err != nil {
			return false, err
		}
	}
}

// before is a cursor that has come to an item and shown nothing of it.
func (c *courier) before(it Item) session.Cursor {
	return c.made(session.Cursor{Seq: it.Seq}, form{})
}

// locate returns the first offset from off on at which the item has something to show.
func (c *courier) locate(it Item, off int) (int, bool) {
	for off < len(it.Source) {
		p, err := c.make(it, off, Shape{})
		if err != nil || p.Body != nil || p.Next <= off {
			return off, true
		}
		off = p.Next
	}
	return off, false
}

// pass moves the cursor from a shown part to the next one of the same item, whose intent it carries.
func (c *courier) pass(ctx context.Context, it Item, s shown, next int) error {
	cur := c.made(session.Cursor{Seq: it.Seq}, form{inline: c.formOf(c.st.Cursor).inline})
	cur.Offset = next
	cur.Posted = slices.Concat(c.st.Cursor.Posted, s.ids)
	cur.Attempt = c.first(ctx)
	cur.Unknown = c.overlap(it, next)
	return c.put(ctx, cur, extra{index: c.index(it, s)})
}

// overlap returns 1 where the part that begins at next may show again what an earlier try of the part before it showed: that one
// had an unknown outcome, and was then made smaller. The label has to stand there too.
func (c *courier) overlap(it Item, next int) uint8 {
	cur := c.st.Cursor
	f := c.formOf(cur)
	if cur.Unknown == 0 && !f.missing || !f.plain && f.shrink == 0 {
		return 0
	}
	if p, err := c.make(it, cur.Offset, Shape{Posted: len(cur.Posted)}); err == nil && next >= p.Next {
		return 0
	}
	return 1
}

// finish moves the cursor behind an item. Where it is known what follows, the write carries that one's first intent; where nothing
// does, it drops due. last is the part shown just now, nil for none.
func (c *courier) finish(ctx context.Context, it Item, last *shown) (idle bool, err error) {
	cur := c.made(session.Cursor{Seq: it.Seq + 1}, form{})
	ex := extra{}
	if last != nil {
		ex.index = c.index(it, *last)
	}
	if len(ex.index) > 0 {
		c.noting = ex.index[0].Ref.Seq
		defer func() { c.noting = 0 }()
	}
	if it.Retells != 0 {
		ex.index = append(ex.index, c.retired...)
	}
	next, found, seen, err := c.scan(ctx, it.Seq+1)
	switch {
	case err != nil: // what was shown is noted all the same; the next round meets the error again
	case found:
		c.expect(ctx, &cur, next)
	case len(c.legs) > 1: // the next round goes there
	default:
		seen = max(seen, it.Seq)
		cur.Seq, idle = seen+1, true
		ex.due = []session.DueWrite{c.drop(seen)}
	}
	if err := c.put(ctx, cur, ex); err != nil {
		return false, err
	}
	if last != nil {
		took := max(0, c.cfg.Now().Sub(it.At).Seconds())
		c.cfg.Counters.Observe(observe.DeliverySeconds, took, c.cfg.Name)
	}
	return idle, nil
}

// expect makes cur stand at the first part of an item, with its intent.
func (c *courier) expect(ctx context.Context, cur *session.Cursor, it Item) {
	cur.Seq = it.Seq
	off, ok := c.locate(it, 0)
	if ok && it.Retells == 0 { // of what was shown before, it isn't known yet whether it is posted
		cur.Offset, cur.Attempt = off, c.first(ctx)
	}
}

// first is the intent to post a part for the first time; nil when the courier is about to stop.
func (c *courier) first(ctx context.Context) *session.Attempt {
	if ctx.Err() != nil {
		return nil
	}
	return &session.Attempt{N: 1, Since: c.cfg.Now().UTC(), Life: c.cfg.Life}
}

// index notes which messages show the part.
func (c *courier) index(it Item, s shown) []session.IndexWrite {
	out := make([]session.IndexWrite, len(s.ids))
	for i, id := range s.ids {
		ref := session.MessageRef{Thread: it.Thread, Seq: it.Turn.Seq, Offset: s.from}
		if it.Retells != 0 { // it shows that question now
			ref.Seq = it.Retells
		}
		out[i] = session.IndexWrite{Address: c.at(), Message: id, Ref: ref}
	}
	return out
}

// enter makes the memory one of the part at the cursor.
func (c *courier) enter() {
	cur := c.st.Cursor
	f := c.formOf(cur)
	if c.mem.leg != cur.Leg || c.mem.seq != cur.Seq || c.mem.offset != cur.Offset || c.mem.missing != f.missing {
		*c.mem = memory{leg: cur.Leg, seq: cur.Seq, offset: cur.Offset, missing: f.missing}
	}
}
