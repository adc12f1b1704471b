package conduit

import "orebot/core/session"

// form is how the part at a cursor's offset is made, beyond what every part of the item has in common.
type form struct {
	shrink  uint8
	plain   bool
	missing bool // the part is given up: a note is posted in its place
	inline  bool // no file; so are the parts of the item that follow
}

const (
	shrinkMask = 0b00011
	plainBit   = 0b00100
	missingBit = 0b01000
	inlineBit  = 0b10000
)

// pack returns what Cursor.Form holds.
func (f form) pack() uint8 {
	b := min(f.shrink, MaxShrink)
	if f.plain {
		b |= plainBit
	}
	if f.missing {
		b |= missingBit
	}
	if f.inline {
		b |= inlineBit
	}
	return b
}

// unpack reads Cursor.Form.
func unpack(b uint8) form {
	return form{shrink: b & shrinkMask, plain: b&plainBit != 0, missing: b&missingBit != 0, inline: b&inlineBit != 0}
}

// formOf returns how the part at the cursor is made now. What was shrunk or plain under another version is made anew.
func (c *courier) formOf(cur session.Cursor) form {
	f := unpack(cur.Form)
	if cur.Layout != c.cfg.Renderer.Layout() {
		return form{missing: f.missing, inline: f.inline}
	}
	return f
}

// resplit reports whether the part at the cursor may have been cut by another version, so that nobody knows where it ended. A cursor
// without a version got its attempt from the final Batch, under this one; and what is one part now was one before.
func (c *courier) resplit(it Item, next int) bool {
	cur := c.st.Cursor
	whole := cur.Offset == 0 && next >= len(it.Source)
	return cur.Layout != 0 && cur.Layout != c.cfg.Renderer.Layout() && !whole
}

// made notes in a cursor how the part at it is made.
func (c *courier) made(cur session.Cursor, f form) session.Cursor {
	cur.Leg = c.leg
	cur.Layout, cur.Form = c.cfg.Renderer.Layout(), f.pack()
	return cur
}
