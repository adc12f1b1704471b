package bolt

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

func TestMigrationsRunInOrderAndOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	closed(t, path)
	var ran []string
	broken := true
	steps := append(migrations(),
		func(b *bolt.Bucket) error {
			ran = append(ran, "2")
			return b.Put([]byte("k2"), []byte{formatV1})
		},
		func(b *bolt.Bucket) error {
			ran = append(ran, "3")
			if err := b.Put([]byte("k3"), []byte{formatV1}); err != nil || !broken {
				return err
			}
			return errors.New("no")
		},
	)
	if _, err := openWith(path, Options{}, steps); err == nil {
		t.Fatal("a broken migration was overlooked")
	}
	broken = false
	s, err := openWith(path, Options{}, steps)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(ran); got != 3 || ran[0] != "2" || ran[1] != "3" || ran[2] != "3" {
		t.Errorf("ran %v", ran)
	}
	if v, err := schemaOf(s.db); err != nil || v != schemaVersion+2 {
		t.Errorf("version %d, %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("a newer file was opened")
	}
}

func TestTheSchemaVersionCountsTheMigrations(t *testing.T) {
	if n := len(migrations()) + 1; n != schemaVersion {
		t.Errorf("%d migrations lead to version %d, not %d", n-1, n, schemaVersion)
	}
}

// A file of version 1 has no index of heard entries.
func TestHeardEntriesOfVersionOneAreListed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := entry("2", session.EntryHeard, session.EndNone)
	long.Inbound.Text = strings.Repeat("long ", 3000)
	for _, e := range []session.Entry{entry("1", session.EntryHeard, session.EndNone), long, entry("3", session.EntryOpen, session.EndNone)} {
		must(t, s, putting(e, session.Revision{}))
	}
	rawly(t, s, func(b *bolt.Bucket) error {
		for _, key := range []string{"1", "2"} {
			if err := b.Delete(heardKey(session.EntryID{Address: home, Key: key}, key)); err != nil {
				return err
			}
		}
		return b.Put(schemaKey(), encodeSchema(1))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, path, Options{})
	list, err := s.Heard(t.Context(), home, 10)
	if err != nil || len(list) != 2 || list[1].Inbound.Text != long.Inbound.Text {
		t.Errorf("heard: %d entries, %v", len(list), err)
	}
}
