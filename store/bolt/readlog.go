package bolt

import (
	"bytes"
	"context"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// rawRecord is a log record copied out of a read transaction and not yet decoded.
type rawRecord struct {
	seq  ledger.Seq
	body []byte
}

// Log implements session.Reader. Before a record that can't be decoded, those in front of it are returned with the error.
func (s *Store) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	var raw []rawRecord
	var broken error
	err := s.view(ctx, func(b *bolt.Bucket) error {
		raw, broken = logFrom(b, id, from, limit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]session.LogRecord, 0, len(raw))
	for _, r := range raw {
		rec, err := decodeLog(r.seq, r.body)
		if err != nil {
			return out, corrupt(logKey(id, r.seq), err)
		}
		out = append(out, rec)
	}
	return out, broken
}

// logFrom copies up to limit records; one whose chunks are broken ends it.
func logFrom(b *bolt.Bucket, id ledger.ThreadID, from ledger.Seq, limit int) (raw []rawRecord, err error) {
	prefix := logPrefix(id)
	c := b.Cursor()
	for k, v := c.Seek(logKey(id, from)); bytes.HasPrefix(k, prefix) && len(raw) < limit; k, v = c.Next() {
		if len(k) != logKeyLen {
			continue // a chunk
		}
		body, n, err := open(v)
		if err == nil && n > 0 {
			body, err = joined(c, bytes.Clone(k), body, n)
		}
		if err != nil {
			return raw, corrupt(k, err)
		}
		seq := ledger.Seq(binary.BigEndian.Uint64(k[len(prefix):]))
		raw = append(raw, rawRecord{seq, bytes.Clone(body)})
	}
	return raw, nil
}

// joined reads the n chunks that lie behind the cursor's record.
func joined(c *bolt.Cursor, key, body []byte, n int) ([]byte, error) {
	out := append(make([]byte, 0, len(body)+n*chunkSize), body...)
	for i := 1; i <= n; i++ {
		k, v := c.Next()
		if !bytes.Equal(k, chunkKey(key, i)) {
			return nil, errNoChunk
		}
		out = append(out, v...)
	}
	return out, nil
}

// Due implements session.Reader.
func (s *Store) Due(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	var out []session.Address
	err := s.view(ctx, func(b *bolt.Bucket) error {
		prefix := textKey(famDue, conduit+":")
		from := prefix
		if after != "" {
			from = append(textKey(famDue, string(after)), 0) // the next key there can be
		}
		if bytes.Compare(from, prefix) < 0 {
			from = prefix
		}
		c := b.Cursor()
		for k, _ := c.Seek(from); bytes.HasPrefix(k, prefix) && len(out) < limit; k, _ = c.Next() {
			out = append(out, session.Address(k[1:]))
		}
		return nil
	})
	return out, err
}
