package bolt

import (
	"bytes"
	"errors"
	"fmt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// entry checks an entry and that it stands in the index that its state calls for; it counts it.
func (c *inspection) entry(k, body []byte) error {
	p, ok := parts(k, 2)
	if !ok {
		return errors.New("its key is odd")
	}
	id := session.EntryID{Address: session.Address(p[0]), Key: p[1]}
	if _, err := decodeEntry(id, body); err != nil {
		return err
	}
	h, _, err := decodeEntryHead(body)
	if err != nil {
		return err
	}
	c.counted.add(h, 1)
	if h.state.Waits() && c.b.Get(waitingKey(id, h.order)) == nil {
		return errors.New("it waits, but isn't listed")
	}
	if h.state == session.EntryHeard && c.b.Get(heardKey(id, h.order)) == nil {
		return errors.New("it is heard, but isn't listed")
	}
	if !h.state.Waits() && h.hour != 0 && c.b.Get(expiryKey(h.hour, id)) == nil {
		return errors.New("it may expire, but isn't listed")
	}
	return nil
}

// entryIndex checks that a key of the indexes of waiting or heard entries, or of the expiry index, leads to an entry that belongs
// there.
func (c *inspection) entryIndex(k []byte) error {
	id, order, ok := entryOfWaiting(k)
	var hour uint32
	if k[0] == famExpiry {
		order = ""
		hour, id, ok = entryOfExpiry(k)
	}
	if !ok {
		return errors.New("its key is odd")
	}
	body, ok, err := read(c.b, entryKey(id))
	if err != nil || !ok {
		return fmt.Errorf("it lists %s, which isn't there", id)
	}
	h, _, err := decodeEntryHead(body)
	if err != nil {
		return err
	}
	belongs := map[byte]bool{
		famWaiting: h.state.Waits() && h.order == order,
		famHeard:   h.state == session.EntryHeard && h.order == order,
		famExpiry:  !h.state.Waits() && h.hour == hour,
	}
	if !belongs[k[0]] {
		return fmt.Errorf("it lists %s, which doesn't belong there", id)
	}
	return nil
}

// served is where an address stands: the last record of the thread that its cursor is in, and whether that is the only one it was
// ever bound to, or another one follows.
type served struct {
	last        ledger.Seq
	only, moves bool
}

// servedAt returns where an address stands; ok is false for one without binding or thread.
func (c *inspection) servedAt(a string) (s served, ok bool) {
	var st session.AddressState
	body, ok, err := read(c.b, textKey(famBinding, a))
	if !ok || err != nil {
		return s, false
	}
	if st.Binding, _, err = decodeRecord[session.Binding](body); err != nil {
		return s, false
	}
	if body, ok, err = read(c.b, textKey(famCursor, a)); ok && err == nil {
		if st.Cursor, _, err = decodeRecord[session.Cursor](body); err != nil {
			return s, false
		}
	}
	legs, _ := st.Serving()
	body, ok, err = read(c.b, stateKey(legs[0].Thread))
	if !ok || err != nil {
		return s, false
	}
	s.only, s.moves = st.Binding.Leg == 0, len(legs) > 1
	_, s.last, _, err = threadLast(body)
	return s, err == nil
}

// cursor checks that a cursor stands within its log, or right behind it.
func (c *inspection) cursor(k, body []byte) error {
	cur, _, err := decodeRecord[session.Cursor](body)
	if err != nil {
		return err
	}
	if s, ok := c.servedAt(string(k[1:])); ok && cur.Seq > s.last+1 {
		return fmt.Errorf("it stands at %d, the log ends at %d", cur.Seq, s.last)
	}
	return nil
}

// due checks that what is due exists. Of an address that was bound to several threads, the number may be of any of them until its
// cursor has come to the last one, and is at first that of the first record it may see there.
func (c *inspection) due(k, body []byte) error {
	n, err := decodeSeq(body)
	if err != nil {
		return err
	}
	s, ok := c.servedAt(string(k[1:]))
	if !ok || s.moves {
		return nil
	}
	if last := s.last; ledger.Seq(n) > last && (s.only || ledger.Seq(n) > last+1) {
		return fmt.Errorf("record %d is due, the log ends at %d", n, last)
	}
	return nil
}

// shown checks a note about a platform message against its reverse.
func (c *inspection) shown(k, body []byte) error {
	if k[0] == famMessage {
		p, ok := parts(k, 2)
		if !ok {
			return errors.New("its key is odd")
		}
		ref, err := decodeRef(body)
		if err == nil && c.b.Get(shownKey(ref, session.Address(p[0]), p[1])) == nil {
			err = errors.New("it has no reverse")
		}
		return err
	}
	const numbers = 16 + 8
	if len(k) < 1+numbers {
		return errShort
	}
	p, ok := parts(k[numbers:], 2) // parts leaves one byte out
	if !ok {
		return errors.New("its key is odd")
	}
	note, ok, err := read(c.b, messageKey(session.Address(p[0]), p[1]))
	if err != nil || !ok {
		return errors.New("the message isn't noted")
	}
	ref, err := decodeRef(note)
	if err == nil && !bytes.Equal(k, shownKey(ref, session.Address(p[0]), p[1])) {
		err = errors.New("the message is noted elsewhere")
	}
	return err
}
