package bolt

import (
	"bytes"
	"context"
	"slices"

	bolt "go.etcd.io/bbolt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// get returns a copy of the value under key.
func (s *Store) get(ctx context.Context, key []byte) (body []byte, ok bool, err error) {
	err = s.view(ctx, func(b *bolt.Bucket) (err error) {
		body, ok, err = read(b, key)
		body = bytes.Clone(body)
		return corrupt(key, err)
	})
	return body, ok, err
}

// Entry implements session.Reader.
func (s *Store) Entry(ctx context.Context, id session.EntryID) (e session.StoredEntry, ok bool, err error) {
	key := entryKey(id)
	body, ok, err := s.get(ctx, key)
	if !ok || err != nil {
		return e, false, err
	}
	e, err = decodeEntry(id, body)
	return e, err == nil, corrupt(key, err)
}

// rawEntry is an entry copied out of a read transaction and not yet decoded.
type rawEntry struct {
	id   session.EntryID
	body []byte
}

func decodeEntries(raw []rawEntry) ([]session.StoredEntry, error) {
	out := make([]session.StoredEntry, 0, len(raw))
	for _, r := range raw {
		e, err := decodeEntry(r.id, r.body)
		if err != nil {
			return nil, corrupt(entryKey(r.id), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// Entries implements session.Reader.
func (s *Store) Entries(ctx context.Context, a session.Address, after string, limit int) ([]session.StoredEntry, error) {
	var raw []rawEntry
	err := s.view(ctx, func(b *bolt.Bucket) (err error) {
		raw, err = entriesAfter(b, a, after, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decodeEntries(raw)
}

// readableOf decodes entries. One that can't be read is left out: it holds up nobody but itself.
func (s *Store) readableOf(raw []rawEntry) []session.StoredEntry {
	out := make([]session.StoredEntry, 0, len(raw))
	for _, r := range raw {
		e, err := decodeEntry(r.id, r.body)
		if err != nil {
			s.opts.Logger.Error("entry left out", "entry", r.id.String(), "err", err)
			continue
		}
		out = append(out, e)
	}
	return out
}

// EntriesAt implements session.Reader. Of more than limit entries it returns those with the highest keys.
func (s *Store) EntriesAt(ctx context.Context, a session.Address, limit int) ([]session.StoredEntry, error) {
	var raw []rawEntry
	err := s.view(ctx, func(b *bolt.Bucket) error {
		raw = entriesAt(b, a, limit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(raw)
	return s.readableOf(raw), nil
}

// entriesAt walks backwards from the address's last key; chunks lie in between.
func entriesAt(b *bolt.Bucket, a session.Address, limit int) (raw []rawEntry) {
	prefix := textKey(famEntry, string(a), "")
	c := b.Cursor()
	after := append(bytes.Clone(prefix), 0xff) // above every UTF-8 text
	k, _ := c.Seek(after)
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	for ; bytes.HasPrefix(k, prefix) && len(raw) < limit; k, _ = c.Prev() {
		key := string(k[len(prefix):])
		if bytes.IndexByte(k[len(prefix):], 0) >= 0 {
			continue
		}
		body, _, err := read(b, k)
		if err != nil {
			body = nil // which can't be decoded
		}
		raw = append(raw, rawEntry{session.EntryID{Address: a, Key: key}, bytes.Clone(body)})
	}
	return raw
}

// entriesAfter seeks from one entry to the next: chunks lie in between.
func entriesAfter(b *bolt.Bucket, a session.Address, after string, limit int) (raw []rawEntry, err error) {
	prefix := textKey(famEntry, string(a), "")
	from := prefix
	if after != "" {
		from = beyond(famEntry, string(a), after)
	}
	c := b.Cursor()
	for k, _ := c.Seek(from); bytes.HasPrefix(k, prefix) && len(raw) < limit; {
		key := string(k[len(prefix):])
		body, _, err := read(b, k)
		if err != nil {
			return nil, corrupt(bytes.Clone(k), err)
		}
		raw = append(raw, rawEntry{session.EntryID{Address: a, Key: key}, bytes.Clone(body)})
		k, _ = c.Seek(beyond(famEntry, string(a), key))
	}
	return raw, nil
}

// Waiting implements session.Reader.
func (s *Store) Waiting(ctx context.Context, a session.Address) ([]session.StoredEntry, error) {
	var raw []rawEntry
	err := s.view(ctx, func(b *bolt.Bucket) error {
		prefix := textKey(famWaiting, string(a), "")
		c := b.Cursor()
		for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
			raw = appendListed(b, raw, k)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.readableOf(raw), nil
}

// Heard implements session.Reader.
func (s *Store) Heard(ctx context.Context, a session.Address, limit int) ([]session.StoredEntry, error) {
	var raw []rawEntry
	err := s.view(ctx, func(b *bolt.Bucket) error {
		prefix := textKey(famHeard, string(a), "")
		c := b.Cursor()
		k, _ := c.Seek(append(bytes.Clone(prefix), 0xff)) // above every UTF-8 text
		if k == nil {
			k, _ = c.Last()
		} else {
			k, _ = c.Prev()
		}
		for ; bytes.HasPrefix(k, prefix) && len(raw) < limit; k, _ = c.Prev() {
			raw = appendListed(b, raw, k)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(raw)
	return s.readableOf(raw), nil
}

// appendListed adds the entry that a key of the index of waiting or of heard entries names. One that isn't there, or not whole, has no
// body, which can't be decoded.
func appendListed(b *bolt.Bucket, raw []rawEntry, k []byte) []rawEntry {
	id, _, ok := entryOfWaiting(k)
	if !ok {
		return raw
	}
	body, _, err := read(b, entryKey(id))
	if err != nil {
		body = nil
	}
	return append(raw, rawEntry{id, bytes.Clone(body)})
}

// Address implements session.Reader.
func (s *Store) Address(ctx context.Context, a session.Address) (session.AddressState, error) {
	var bodies [4][]byte
	families := [4]byte{famBinding, famCursor, famPresence, famDue}
	err := s.view(ctx, func(b *bolt.Bucket) error {
		for i, f := range families {
			key := textKey(f, string(a))
			body, _, err := read(b, key)
			if err != nil {
				return corrupt(key, err)
			}
			bodies[i] = bytes.Clone(body)
		}
		return nil
	})
	if err != nil {
		return session.AddressState{}, err
	}
	return decodeAddress(a, bodies)
}

func decodeAddress(a session.Address, bodies [4][]byte) (st session.AddressState, err error) {
	if err := decodeOf(famBinding, a, bodies[0], &st.Binding, &st.BindingRev); err != nil {
		return st, err
	}
	if err := decodeOf(famCursor, a, bodies[1], &st.Cursor, &st.CursorRev); err != nil {
		return st, err
	}
	if err := decodeOf(famPresence, a, bodies[2], &st.Presence, &st.PresenceRev); err != nil {
		return st, err
	}
	if bodies[3] != nil {
		n, err := decodeSeq(bodies[3])
		st.Due = ledger.Seq(n)
		return st, corrupt(textKey(famDue, string(a)), err)
	}
	return st, nil
}

// decodeOf decodes one record of an address, if there is one.
func decodeOf[T any](family byte, a session.Address, body []byte, record *T, rev *session.Revision) (err error) {
	if body == nil {
		return nil
	}
	*record, *rev, err = decodeRecord[T](body)
	return corrupt(textKey(family, string(a)), err)
}

// Thread implements session.Reader.
func (s *Store) Thread(ctx context.Context, id ledger.ThreadID) (t session.Thread, rev session.Revision, ok bool, err error) {
	key := stateKey(id)
	body, ok, err := s.get(ctx, key)
	if !ok || err != nil {
		return t, rev, false, err
	}
	t, rev, err = decodeThread(body)
	return t, rev, err == nil, corrupt(key, err)
}

// Message implements session.Reader.
func (s *Store) Message(ctx context.Context, a session.Address, message string) (ref session.MessageRef, ok bool, err error) {
	key := messageKey(a, message)
	body, ok, err := s.get(ctx, key)
	if !ok || err != nil {
		return ref, false, err
	}
	ref, err = decodeRef(body)
	return ref, err == nil, corrupt(key, err)
}

// Small implements session.Reader.
func (s *Store) Small(ctx context.Context, space, key string) (v []byte, rev session.Revision, ok bool, err error) {
	k := smallKey(space, key)
	body, ok, err := s.get(ctx, k)
	if !ok || err != nil {
		return nil, rev, false, err
	}
	rev, v, err = revisionOf(body)
	return v, rev, err == nil, corrupt(k, err)
}

// Totals implements session.Reader.
func (s *Store) Totals(ctx context.Context) (t session.Totals, err error) {
	err = s.view(ctx, func(b *bolt.Bucket) error {
		sums, err := readSums(b)
		t = sums.totals()
		return err
	})
	return t, err
}
