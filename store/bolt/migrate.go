package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// schemaVersion is what this program writes. It is the number of migrations and one.
const schemaVersion = 2

// migration brings a bucket from one schema version to the next, within one transaction.
type migration func(*bolt.Bucket) error

// migrations are all steps in order: the first leads from version 1 to version 2. A step is never changed once it is released.
func migrations() []migration { return []migration{listHeard} }

// listHeard makes the index of heard entries, which version 1 didn't have.
func listHeard(b *bolt.Bucket) error {
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.Seek([]byte{famEntry}); len(k) > 0 && k[0] == famEntry; k, v = c.Next() {
		p, ok := parts(k, 2)
		if !ok {
			continue // a chunk
		}
		body, _, err := open(v)
		if err != nil {
			continue // Check finds it
		}
		if h, _, err := decodeEntryHead(body); err == nil && h.state == session.EntryHeard {
			keys = append(keys, heardKey(session.EntryID{Address: session.Address(p[0]), Key: p[1]}, h.order))
		}
	}
	for _, k := range keys {
		if err := b.Put(k, []byte{formatV1}); err != nil {
			return err
		}
	}
	return nil
}

func schemaKey() []byte { return []byte{famSchema} }

func encodeSchema(n uint32) []byte { return binary.BigEndian.AppendUint32(newValue(4), n) }

func decodeSchema(v []byte) (uint32, error) {
	body, _, err := open(v)
	if err != nil {
		return 0, err
	}
	if len(body) != 4 {
		return 0, errShort
	}
	return binary.BigEndian.Uint32(body), nil
}

// migrate makes the bucket in an empty file, or brings the file up to date, each step with its version in one transaction. A file
// that is up to date isn't written to.
func migrate(db *bolt.DB, steps []migration) error {
	have, err := schemaOf(db)
	if err != nil {
		return err
	}
	newest := uint32(len(steps)) + 1
	if have > newest {
		return &OpenError{Reason: Newer, Schema: have}
	}
	if have == 0 {
		return db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket(bucketName)
			if err != nil {
				return err
			}
			return b.Put(schemaKey(), encodeSchema(newest))
		})
	}
	for ; have < newest; have++ {
		if err := step(db, steps[have-1], have+1); err != nil {
			return fmt.Errorf("migrate to schema version %d: %w", have+1, err)
		}
	}
	return nil
}

func step(db *bolt.DB, m migration, to uint32) error {
	return db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketName)
		if err := m(b); err != nil {
			return err
		}
		return b.Put(schemaKey(), encodeSchema(to))
	})
}

// schemaOf returns the file's version; 0 for an empty file.
func schemaOf(db *bolt.DB) (version uint32, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketName)
		if b == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return &OpenError{Reason: Foreign, Err: errors.New("it holds something else")}
			}
			return nil
		}
		version, err = decodeSchema(b.Get(schemaKey()))
		if err == nil && version == 0 {
			err = errors.New("its schema version is 0")
		}
		if err != nil {
			return &OpenError{Reason: Damaged, Err: fmt.Errorf("schema: %w", err)}
		}
		return nil
	})
	return version, err
}
