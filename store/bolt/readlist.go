package bolt

import (
	"bytes"
	"context"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// Places implements session.Reader.
func (s *Store) Places(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	return s.addresses(ctx, famEntry, conduit+":", after, limit)
}

// Pending implements session.Reader.
func (s *Store) Pending(ctx context.Context, after session.Address, limit int) ([]session.Address, error) {
	return s.addresses(ctx, famWaiting, "", after, limit)
}

// Bound implements session.Reader.
func (s *Store) Bound(ctx context.Context, after session.Address, limit int) ([]session.Address, error) {
	return s.addresses(ctx, famBinding, "", after, limit)
}

// Presences implements session.Reader.
func (s *Store) Presences(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	return s.addresses(ctx, famPresence, conduit+":", after, limit)
}

// addresses returns the addresses that begin with a text and have keys of a family. It seeks from one address to the next.
func (s *Store) addresses(ctx context.Context, family byte, start string, after session.Address, limit int) ([]session.Address, error) {
	var out []session.Address
	err := s.view(ctx, func(b *bolt.Bucket) error {
		prefix := textKey(family, start)
		from := prefix
		if after != "" && bytes.Compare(beyond(family, string(after)), prefix) > 0 {
			from = beyond(family, string(after))
		}
		c := b.Cursor()
		for k, _ := c.Seek(from); bytes.HasPrefix(k, prefix) && len(out) < limit; {
			a, _, _ := bytes.Cut(k[1:], []byte{0})
			out = append(out, session.Address(a))
			k, _ = c.Seek(beyond(family, string(a)))
		}
		return nil
	})
	return out, err
}

// beyond is above every key of a family whose parts begin with these, chunks included, and not above any other that sorts behind
// them.
func beyond(family byte, parts ...string) []byte { return append(textKey(family, parts...), 1) }

// SmallList implements session.Reader.
func (s *Store) SmallList(ctx context.Context, space, after string, limit int) ([]session.SmallValue, error) {
	var out []session.SmallValue
	err := s.view(ctx, func(b *bolt.Bucket) (err error) {
		prefix := smallKey(space, "")
		from := prefix
		if after != "" {
			from = beyond(famSmall, space, after)
		}
		c := b.Cursor()
		for k, _ := c.Seek(from); bytes.HasPrefix(k, prefix) && len(out) < limit && err == nil; {
			key := string(k[len(prefix):])
			out, err = appendSmall(b, out, k, key)
			k, _ = c.Seek(beyond(famSmall, space, key))
		}
		return err
	})
	return out, err
}

func appendSmall(b *bolt.Bucket, out []session.SmallValue, k []byte, key string) ([]session.SmallValue, error) {
	body, _, err := read(b, k)
	if err != nil {
		return out, corrupt(bytes.Clone(k), err)
	}
	rev, v, err := revisionOf(bytes.Clone(body))
	if err != nil {
		return out, corrupt(bytes.Clone(k), err)
	}
	return append(out, session.SmallValue{Key: key, Value: v, Rev: rev}), nil
}
