package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

func TestOpenMakesAPrivateFileInAPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "orebot.db")
	s := opened(t, path, Options{})
	for name, want := range map[string]os.FileMode{path: 0o600, dir: 0o700, filepath.Dir(dir): 0o700} {
		if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	if st := s.Stats(); st.FileSize == 0 {
		t.Errorf("stats: %+v", st)
	}
}

func TestOpenTakesTheFileAwayFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	closed(t, path)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	opened(t, path, Options{})
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// closed makes a file with some content that was closed in good order.
func closed(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, many(300))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// many is the Batch that accepts n entries.
func many(n int) session.Batch {
	b := session.Batch{ID: session.NewBatchID()}
	for i := range n {
		b.Entries = append(b.Entries, accept(fmt.Sprint(i)).Entries...)
	}
	return b
}

// torn makes a file like closed, as it is left by a process that was killed.
func torn(t *testing.T, path string) {
	t.Helper()
	live := path + ".live"
	s := opened(t, live, Options{})
	must(t, s, many(300))
	data, err := os.ReadFile(live)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// overwrite changes bytes of a file.
func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // a test's file
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func TestOpenErrorsAreOneSentence(t *testing.T) {
	noise := bytes.Repeat([]byte{0x5a}, 4096)
	cases := []struct {
		name   string
		make   func(t *testing.T, path string)
		reason Reason
		text   string
	}{
		{"in use", func(t *testing.T, path string) { opened(t, path, Options{}) }, Locked,
			fmt.Sprintf("state database %%s is in use by another orebot (pid %d)", os.Getpid())},
		{"a text file", func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("hello\n", 9999))) }, Foreign,
			"%s is not a state database (it isn't a bbolt file)"},
		{"a short text file", func(t *testing.T, path string) { write(t, path, []byte("hello")) }, Foreign,
			"%s is not a state database (it isn't a bbolt file)"},
		{"a directory", func(t *testing.T, path string) { mkdir(t, path) }, Foreign,
			"%s is not a state database (not a regular file)"},
		{"another program's", foreign, Foreign, "%s is not a state database (it holds something else)"},
		{"a newer schema", newer, Newer, "state database %s was written by a newer orebot (schema version 7, this one knows 2)"},
		{"both roots gone", func(t *testing.T, path string) {
			closed(t, path)
			overwrite(t, path, 64, noise[:16])
			overwrite(t, path, 4096+64, noise[:16])
		}, Damaged, "state database %s is damaged (both of its roots are unreadable); restore a backup"},
		{"cut short", func(t *testing.T, path string) {
			closed(t, path)
			if err := os.Truncate(path, 5*4096); err != nil {
				t.Fatal(err)
			}
		}, Damaged, "state database %s is damaged (it ends after 20480 of "},
		{"noise after a kill", func(t *testing.T, path string) {
			torn(t, path)
			for at := int64(2 * 4096); at < 200*4096; at += 4096 {
				overwrite(t, path, at, noise)
			}
		}, Damaged, "state database %s is damaged (page "},
		{"keys out of order after a kill", func(t *testing.T, path string) {
			torn(t, path)
			write(t, path, bytes.ReplaceAll(readFile(t, path), []byte("eslack:T1/D1\x00150"), []byte("zslack:T1/D1\x00150")))
		}, Damaged, "state database %s is damaged (page "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "orebot.db")
			c.make(t, path)
			_, err := Open(path, Options{LockTimeout: 50 * time.Millisecond})
			var e *OpenError
			if !errors.As(err, &e) || e.Reason != c.reason || e.Path != path {
				t.Fatalf("%#v", err)
			}
			if want := strings.ReplaceAll(c.text, "%s", path); !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("\n got %s\nwant %s", err, want)
			}
		})
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("else")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func newer(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rawly(t, s, func(b *bolt.Bucket) error { return b.Put(schemaKey(), encodeSchema(7)) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenSaysWhatCantBeWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), nil)
	path := filepath.Join(dir, "file", "orebot.db")
	_, err := Open(path, Options{})
	var e *OpenError
	if !errors.As(err, &e) || e.Reason != Unwritable || !strings.HasPrefix(err.Error(), "state database "+path+" can't be written (") {
		t.Errorf("%v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	locked := filepath.Join(dir, "locked")
	mkdir(t, locked)
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(locked, "orebot.db"), Options{}); !errors.As(err, &e) || e.Reason != Unwritable {
		t.Errorf("%v", err)
	}
}

func TestOneDamagedRootIsSurvived(t *testing.T) {
	for _, root := range []int64{0, 1} {
		path := filepath.Join(t.TempDir(), "orebot.db")
		closed(t, path)
		overwrite(t, path, root*4096+64, []byte("noise"))
		opened(t, path, Options{})
	}
}

// A clean stop leaves the list of free pages, so that the next start needn't look at every page; a running store doesn't write it.
func TestCloseWritesTheFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	closed(t, path)
	if m := metaOf(t, path); m.freelist == noFreelist {
		t.Error("a clean stop left no list of free pages")
	}
	s := opened(t, path, Options{})
	must(t, s, accept("more"))
	if m := metaOf(t, path); m.freelist != noFreelist {
		t.Error("a running store writes the list of free pages")
	}
}

func metaOf(t *testing.T, path string) meta {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	m, err := readMeta(f, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCloseTwice(t *testing.T) {
	s := fresh(t)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
