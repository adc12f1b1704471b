package bolt

import (
	"errors"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func TestMigrationsRunInOrderAndOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	closed(t, path)
	var ran []string
	broken := true
	steps := []migration{
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
	}
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
	if v, err := schemaOf(s.db); err != nil || v != 3 {
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
