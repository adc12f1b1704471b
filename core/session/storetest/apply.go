package storetest

import (
	"encoding/json"
	"time"

	"orebot/core/session"
)

// storedEntry is an entry with its expiry.
type storedEntry struct {
	Entry   session.Entry
	Expires time.Time
}

func entryName(id session.EntryID) string { return "entry " + id.String() }

func smallName(space, key string) string { return "small " + space + "\x00" + key }

// condition is the precondition on one record outside the log.
type condition struct {
	name     string
	rev      session.Revision
	optional bool
}

func conditions(b *session.Batch) (out []condition) {
	for _, w := range b.Bindings {
		out = append(out, condition{"binding " + string(w.Address), w.Rev, false})
	}
	for _, w := range b.Cursors {
		out = append(out, condition{"cursor " + string(w.Address), w.Rev, w.Optional})
	}
	for _, w := range b.Presences {
		out = append(out, condition{"presence " + string(w.Address), w.Rev, false})
	}
	for _, w := range b.Entries {
		out = append(out, condition{entryName(w.Entry.ID), w.Rev, false})
	}
	for _, w := range b.Small {
		out = append(out, condition{smallName(w.Space, w.Key), w.Rev, false})
	}
	return out
}

// check evaluates the preconditions. The caller holds the lock.
func (m *Memory) check(b *session.Batch) error {
	c := session.Conflict{OnlyOptional: true}
	failed := func(what string, optional bool) {
		if c.What == "" || c.OnlyOptional && !optional {
			c.What = what
		}
		c.OnlyOptional = c.OnlyOptional && optional
	}
	if t := m.threads[b.Thread]; b.State != nil {
		if t == nil {
			t = &thread{}
		}
		c.Applied = t.rev == b.ID
		if t.last != b.After {
			failed("log", false)
		}
	}
	for _, want := range conditions(b) {
		have := m.records[want.name].rev
		c.Applied = c.Applied || have == b.ID
		if have != want.rev {
			failed(want.name, want.optional)
		}
	}
	if c.What == "" {
		return nil
	}
	c.OnlyOptional = c.OnlyOptional && !c.Applied
	return &c
}

// apply puts a Batch. The caller holds the lock.
func (m *Memory) apply(b *session.Batch, e encoded) {
	if b.State != nil {
		t := m.threads[b.Thread]
		if t == nil {
			t = &thread{}
			m.threads[b.Thread] = t
		}
		t.rev, t.last, t.state = b.ID, b.State.Last, e.state
		t.log = append(t.log, e.log...)
		for seq, rec := range e.old {
			t.log[seq-1] = rec
		}
	}
	for _, w := range b.Entries {
		m.applyEntry(w, e)
	}
	for name, body := range e.bodies {
		if body == nil {
			delete(m.records, name)
			continue
		}
		m.records[name] = record{b.ID, body}
	}
	m.applyIndexes(b)
}

// applyEntry keeps an earlier expiry and tells watchers. It runs before the entry's record is replaced.
func (m *Memory) applyEntry(w session.EntryWrite, e encoded) {
	name := entryName(w.Entry.ID)
	old, existed := m.entry(name)
	if w.Expires.IsZero() && existed && !old.Expires.IsZero() {
		body, err := json.Marshal(storedEntry{w.Entry, old.Expires})
		if err == nil { // it was encoded once already
			e.bodies[name] = body
		}
	}
	now := w.Entry.State
	if now.Waits() && (!existed || !old.Entry.State.Waits() || now == session.EntryOpen && old.Entry.State != now) {
		for watcher := range m.watchers {
			watcher.backlog = append(watcher.backlog, w.Entry.ID)
			watcher.signal()
		}
	}
}

func (m *Memory) applyIndexes(b *session.Batch) {
	for _, w := range b.Due {
		have, ok := m.due[w.Address]
		switch {
		case w.Drop && have <= w.Seq:
			delete(m.due, w.Address)
		case !w.Drop && (w.Anew || !ok || have < w.Seq):
			m.due[w.Address] = w.Seq
		}
	}
	for _, w := range b.Index {
		m.messages[[2]string{string(w.Address), w.Message}] = w.Ref
	}
}

// entry decodes a stored entry. The caller holds the lock.
func (m *Memory) entry(name string) (e storedEntry, ok bool) {
	r, ok := m.records[name]
	if !ok {
		return e, false
	}
	return e, json.Unmarshal(r.body, &e) == nil
}
