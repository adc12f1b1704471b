package conduit

import "orebot/core/session"

// form is how the part at a cursor's offset is made, beyond what every part of the item has in common.
type form struct {
	shrink  uint8
	plain   bool
	missing bool // the part is given up: a note is posted in its place
}

const (
	shrinkShift = 12
	plainBit    = 1 << 14
	missingBit  = 1 << 15
)

// pack returns what Cursor.Layout holds: the renderer's version in the lower twelve bits, the form above.
func pack(version uint16, f form) uint16 {
	l := version&maxLayout | uint16(min(f.shrink, MaxShrink))<<shrinkShift
	if f.plain {
		l |= plainBit
	}
	if f.missing {
		l |= missingBit
	}
	return l
}

// unpack takes apart what pack put together.
func unpack(layout uint16) (version uint16, f form) {
	return layout & maxLayout, form{
		shrink:  uint8(layout>>shrinkShift) & MaxShrink,
		plain:   layout&plainBit != 0,
		missing: layout&missingBit != 0,
	}
}

// formOf returns how the part at the cursor is made now. What was shrunk or plain under another version is made anew.
func (c *courier) formOf(cur session.Cursor) form {
	version, f := unpack(cur.Layout)
	if version != c.cfg.Renderer.Layout() {
		return form{missing: f.missing}
	}
	return f
}

// resplit reports whether the part at the cursor may have been cut by another version, so that nobody knows where it ended. A cursor
// without a version got its attempt from the final Batch, under this one; and what is one part now was one before.
func (c *courier) resplit(it Item, next int) bool {
	cur := c.st.Cursor
	version, _ := unpack(cur.Layout)
	whole := cur.Offset == 0 && next >= len(it.Source)
	return version != 0 && version != c.cfg.Renderer.Layout() && !whole
}

// layout returns what a cursor holds for a part of the given form.
func (c *courier) layout(f form) uint16 { return pack(c.cfg.Renderer.Layout(), f) }
