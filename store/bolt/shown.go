package bolt

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	bolt "go.etcd.io/bbolt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// maxShown bounds how many notes of one record are read: more than any record is shown in.
const maxShown = 10_000

// Shown implements session.Reader.
func (s *Store) Shown(ctx context.Context, id ledger.ThreadID, seq ledger.Seq, a session.Address, limit int) ([]session.Shown, error) {
	var out []session.Shown
	err := s.view(ctx, func(b *bolt.Bucket) error {
		prefix := shownKey(session.MessageRef{Thread: id, Seq: seq}, a, "")
		c := b.Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(out) < maxShown; k, v = c.Next() {
			body, _, err := open(v)
			if err != nil {
				return corrupt(bytes.Clone(k), err)
			}
			n, err := decodeSeq(body)
			if err != nil {
				return corrupt(bytes.Clone(k), err)
			}
			out = append(out, session.Shown{Message: string(k[len(prefix):]), Offset: int(n)})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b session.Shown) int { return cmp.Compare(a.Offset, b.Offset) })
	return out[:min(len(out), max(limit, 0))], err
}
