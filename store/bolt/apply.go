package bolt

import (
	"encoding/binary"

	"orebot/core/session"
)

// apply checks the preconditions of a Batch and then puts it. A returned error costs only this Batch: nothing of it was put.
func (p *prepared) apply(w *writer) error {
	olds, err := p.check(w)
	if err != nil {
		return err
	}
	for _, r := range p.log {
		w.put(r.key, r.value)
	}
	if p.state != nil {
		w.put(p.state.key, p.state.value)
	}
	for _, r := range p.puts {
		if r.value == nil {
			w.drop(r.key)
			continue
		}
		w.put(r.key, *r.value)
	}
	for i := range p.entries {
		w.putEntry(&p.entries[i], olds[i])
	}
	p.applyIndexes(w)
	return w.err
}

// check evaluates every precondition and returns what is known of each entry before this Batch; nil for a new one.
func (p *prepared) check(w *writer) ([]*entryHead, error) {
	c := &conflicts{id: p.id}
	if p.state != nil {
		if err := p.checkThread(w, c); err != nil {
			return nil, err
		}
	}
	for _, r := range p.puts {
		have, err := w.revision(r.key)
		if err != nil {
			return nil, err
		}
		c.check(r.key, have, r.rev, r.optional)
	}
	olds := make([]*entryHead, len(p.entries))
	for i, e := range p.entries {
		old, err := w.entryHead(e.key)
		if err != nil {
			return nil, err
		}
		olds[i] = old
		c.check(e.key, old.revision(), e.rev, false)
	}
	return olds, c.err()
}

func (p *prepared) checkThread(w *writer, c *conflicts) error {
	body, ok, err := w.front(p.state.key)
	if err != nil {
		return err
	}
	if !ok {
		if p.after != 0 {
			c.fail(p.state.key, false)
		}
		return nil
	}
	rev, last, _, err := threadLast(body)
	if err != nil {
		return corrupt(p.state.key, err)
	}
	c.applied = c.applied || rev == p.id
	if last != p.after {
		c.fail(p.state.key, false)
	}
	return nil
}

func (h *entryHead) revision() session.Revision {
	if h == nil {
		return session.Revision{}
	}
	return h.rev
}

// entryHead reads what is known of the entry under key; nil where there is none.
func (w *writer) entryHead(key []byte) (*entryHead, error) {
	body, ok, err := w.front(key)
	if !ok || err != nil {
		return nil, err
	}
	h, _, err := decodeEntryHead(body)
	if err != nil {
		return nil, corrupt(key, err)
	}
	return &h, nil
}

// putEntry puts an entry and keeps its indexes and the sums in step.
func (w *writer) putEntry(e *entryPut, old *entryHead) {
	h := e.head
	if h.hour == 0 && old != nil {
		h.hour = old.hour
		binary.BigEndian.PutUint32(e.value.body()[hourOffset:], h.hour)
	}
	if moved := old == nil || !old.sameIndex(h); moved {
		w.unindex(e.id, old)
		w.index(e.id, h)
	}
	w.put(e.key, *e.value)
	if h.state.Waits() && (old == nil || !old.state.Waits() || h.state == session.EntryOpen && old.state != session.EntryOpen) {
		w.opened = append(w.opened, e.id)
	}
}

// sameIndex reports whether an entry that goes from h to n is indexed and counted as before.
func (h *entryHead) sameIndex(n entryHead) bool {
	if h.state.Waits() && n.state.Waits() && h.state.IsSignal() == n.state.IsSignal() {
		return h.order == n.order
	}
	return h.state == n.state && (h.state != session.EntryHeard || h.order == n.order) && h.end == n.end && h.hour == n.hour
}

// index notes an entry in the index that its state belongs to, and counts it.
func (w *writer) index(id session.EntryID, h entryHead) {
	w.sums.add(h, 1)
	switch {
	case h.state.Waits():
		w.put(waitingKey(id, h.order), value{head: []byte{formatV1}})
		return
	case h.state == session.EntryHeard:
		w.put(heardKey(id, h.order), value{head: []byte{formatV1}})
	}
	if h.hour != 0 {
		w.put(expiryKey(h.hour, id), value{head: []byte{formatV1}})
	}
}

// unindex takes back what index did for the entry's earlier state.
func (w *writer) unindex(id session.EntryID, old *entryHead) {
	if old == nil {
		return
	}
	w.sums.add(*old, -1)
	switch {
	case old.state.Waits():
		w.remove(waitingKey(id, old.order))
		return
	case old.state == session.EntryHeard:
		w.remove(heardKey(id, old.order))
	}
	if old.hour != 0 {
		w.remove(expiryKey(old.hour, id))
	}
}

func (p *prepared) applyIndexes(w *writer) {
	for _, d := range p.due {
		w.putDue(d)
	}
	for _, x := range p.index {
		w.putIndex(x)
	}
}

func (w *writer) putDue(d duePut) {
	var have uint64
	body, ok, err := w.front(d.key)
	if ok && err == nil {
		have, _ = decodeSeq(body) // an unreadable note is replaced
	}
	switch {
	case d.drop && ok && have <= uint64(d.seq):
		w.remove(d.key)
	case !d.drop && (d.anew || !ok || have < uint64(d.seq)):
		w.put(d.key, value{head: encodeSeq(uint64(d.seq))})
	}
}

func (w *writer) putIndex(x indexPut) {
	key := messageKey(x.address, x.message)
	if body, ok, err := w.front(key); ok && err == nil {
		if old, err := decodeRef(body); err == nil {
			w.remove(shownKey(old, x.address, x.message))
		}
	}
	w.put(key, value{head: encodeRef(x.ref)})
	w.put(shownKey(x.ref, x.address, x.message), value{head: encodeSeq(uint64(x.ref.Offset))})
}
