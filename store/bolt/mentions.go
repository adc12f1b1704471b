package bolt

import (
	"bytes"
	"context"

	bolt "go.etcd.io/bbolt"
)

// mentionPage is how many keys are looked at in one read transaction.
const mentionPage = 500

// Mentions calls f with every text of a length that begins with a prefix and stands in any value, whatever record that is; f may be
// called with the same text again, and with one that two values make by chance. It reads the whole database, a bit at a time, beside
// everything else; what is written meanwhile may be missing.
func (s *Store) Mentions(ctx context.Context, prefix string, length int, f func(text string)) error {
	var m mentions
	m.prefix, m.length, m.f = []byte(prefix), length, f
	for from := []byte{0}; from != nil; {
		err := s.view(ctx, func(b *bolt.Bucket) error {
			from = m.page(b, from)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mentions looks for texts in values. It keeps the end of what it looked at last: a value's chunks follow each other.
type mentions struct {
	prefix []byte
	length int
	f      func(string)
	tail   []byte
}

// page looks at some keys from one on, and returns the next one; nil at the end.
func (m *mentions) page(b *bolt.Bucket, from []byte) (next []byte) {
	c := b.Cursor()
	n := 0
	for k, v := c.Seek(from); k != nil; k, v = c.Next() {
		if n++; n > mentionPage {
			return bytes.Clone(k)
		}
		m.look(v)
	}
	return nil
}

func (m *mentions) look(v []byte) {
	text := append(m.tail, v...)
	for rest := text; ; {
		i := bytes.Index(rest, m.prefix)
		if i < 0 || len(rest)-i < m.length {
			break
		}
		m.f(string(rest[i : i+m.length]))
		rest = rest[i+len(m.prefix):]
	}
	m.tail = bytes.Clone(text[max(0, len(text)-m.length+1):])
}
