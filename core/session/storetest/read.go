package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
)

// Entry implements session.Reader.
func (m *Memory) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := entryName(id)
	e, ok := m.entry(name)
	return session.StoredEntry{Entry: e.Entry, Rev: m.records[name].rev}, ok, ctx.Err()
}

// entries returns the entries of an address, or of all where it is empty, that match, by key. Those of others aren't decoded: a test may
// have thousands. The caller holds the lock.
func (m *Memory) entries(a session.Address, match func(session.Entry) bool) (out []session.StoredEntry) {
	prefix := "entry "
	if a != "" {
		prefix = entryName(session.EntryID{Address: a})
	}
	for name, r := range m.records {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if e, ok := m.entry(name); ok && match(e.Entry) {
			out = append(out, session.StoredEntry{Entry: e.Entry, Rev: r.rev})
		}
	}
	slices.SortFunc(out, func(a, b session.StoredEntry) int {
		return cmp.Or(cmp.Compare(a.ID.Address, b.ID.Address), cmp.Compare(a.ID.Key, b.ID.Key))
	})
	return out
}

// Entries implements session.Reader.
func (m *Memory) Entries(ctx context.Context, a session.Address, after string, limit int) ([]session.StoredEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.entries(a, func(e session.Entry) bool { return e.ID.Address == a && e.ID.Key > after })
	return out[:min(len(out), max(0, limit))], ctx.Err()
}

// EntriesAt implements session.Reader. Of more than limit entries it returns those with the highest keys.
func (m *Memory) EntriesAt(ctx context.Context, a session.Address, limit int) ([]session.StoredEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.entries(a, func(e session.Entry) bool { return e.ID.Address == a })
	return out[max(0, len(out)-max(0, limit)):], ctx.Err()
}

// Waiting implements session.Reader.
func (m *Memory) Waiting(ctx context.Context, a session.Address) ([]session.StoredEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.entries(a, func(e session.Entry) bool { return e.ID.Address == a && e.State.Waits() })
	slices.SortStableFunc(out, func(a, b session.StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
	return out, ctx.Err()
}

// Heard implements session.Reader.
func (m *Memory) Heard(ctx context.Context, a session.Address, limit int) ([]session.StoredEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.entries(a, func(e session.Entry) bool { return e.ID.Address == a && e.State == session.EntryHeard })
	slices.SortStableFunc(out, func(a, b session.StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
	return out[max(0, len(out)-max(0, limit)):], ctx.Err()
}

// Address implements session.Reader.
func (m *Memory) Address(ctx context.Context, a session.Address) (st session.AddressState, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	get := func(kind string, into any) session.Revision {
		r, ok := m.records[kind+" "+string(a)]
		if ok && err == nil {
			err = json.Unmarshal(r.body, into)
		}
		return r.rev
	}
	st.BindingRev = get("binding", &st.Binding)
	st.CursorRev = get("cursor", &st.Cursor)
	st.PresenceRev = get("presence", &st.Presence)
	st.Due = m.due[a]
	return st, cmp.Or(err, ctx.Err())
}

// Thread implements session.Reader.
func (m *Memory) Thread(ctx context.Context, id ledger.ThreadID) (t session.Thread, rev session.Revision, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	th := m.threads[id]
	if th == nil {
		return t, rev, false, ctx.Err()
	}
	err = json.Unmarshal(th.state, &t)
	return t, th.rev, err == nil, cmp.Or(err, ctx.Err())
}

// Log implements session.Reader.
func (m *Memory) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []session.LogRecord
	th := m.threads[id]
	if th == nil {
		return nil, ctx.Err()
	}
	for seq := max(from, 1); seq <= ledger.Seq(len(th.log)) && len(out) < limit; seq++ {
		r, err := th.log[seq-1].decode(seq)
		if err != nil {
			return out, &session.CorruptError{Thread: id, Seq: seq, Err: err}
		}
		out = append(out, r)
	}
	return out, ctx.Err()
}

// Due implements session.Reader.
func (m *Memory) Due(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []session.Address
	for a := range m.due {
		if a.Conduit() == conduit && a > after {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), max(0, limit))], ctx.Err()
}

// Message implements session.Reader.
func (m *Memory) Message(ctx context.Context, a session.Address, message string) (session.MessageRef, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref, ok := m.messages[[2]string{string(a), message}]
	return ref, ok, ctx.Err()
}

// Shown implements session.Reader.
func (m *Memory) Shown(ctx context.Context, id ledger.ThreadID, seq ledger.Seq, a session.Address, limit int) ([]session.Shown, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []session.Shown
	for k, ref := range m.messages {
		if k[0] == string(a) && ref.Thread == id && ref.Seq == seq {
			out = append(out, session.Shown{Message: k[1], Offset: ref.Offset})
		}
	}
	slices.SortFunc(out, func(a, b session.Shown) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Message, b.Message))
	})
	return out[:min(len(out), max(0, limit))], ctx.Err()
}

// Small implements session.Reader.
func (m *Memory) Small(ctx context.Context, space, key string) ([]byte, session.Revision, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[smallName(space, key)]
	return slices.Clone(r.body), r.rev, ok, ctx.Err()
}

// Totals implements session.Reader. Nothing expires in a Memory.
func (m *Memory) Totals(ctx context.Context) (session.Totals, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := session.Totals{Ended: make(map[session.End]uint64)}
	for _, e := range m.entries("", func(session.Entry) bool { return true }) {
		switch {
		case e.State.IsSignal():
			t.Signals++
		case e.State.Waits():
			t.Waiting++
		case e.State.IsHeard():
			t.Heard++
		default:
			t.Ended[e.End]++
		}
	}
	return t, ctx.Err()
}

// Expiry returns when an entry may be forgotten; zero where nobody has said.
func (m *Memory) Expiry(id session.EntryID) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.entry(entryName(id))
	return e.Expires
}
