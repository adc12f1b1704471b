package bolt

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// filled opens a store that holds something of everything, which isn't checked at the end.
func filled(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "orebot.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	id := threadNo(1)
	b := turns(id, 0, 3, strings.Repeat("text ", 2000))
	b.Bindings = []session.BindingWrite{{Address: home, Binding: session.Binding{Thread: id}}}
	b.Cursors = []session.CursorWrite{{Address: home, Cursor: session.Cursor{Seq: 4}}}
	b.Due = []session.DueWrite{{Address: home, Seq: 3}}
	b.Index = []session.IndexWrite{{Address: home, Message: "m", Ref: session.MessageRef{Thread: id, Seq: 3}}}
	must(t, s, b)
	must(t, s, accept("open"))
	must(t, s, expiring(entry("ended", session.EntryEnded, session.EndAnswered), session.Revision{}, noon()))
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheckFindsWhatDoesntFitTogether(t *testing.T) {
	id, open, ended := threadNo(1), entry("open", 0, 0).ID, entry("ended", 0, 0).ID
	hour := hourOf(noon())
	one := []byte{formatV1}
	del := func(k []byte) func(*bolt.Bucket) error { return func(b *bolt.Bucket) error { return b.Delete(k) } }
	put := func(k, v []byte) func(*bolt.Bucket) error { return func(b *bolt.Bucket) error { return b.Put(k, v) } }
	far, _ := encodeRecord(session.NewBatchID(), session.Cursor{Seq: 9})
	cases := map[string]struct {
		damage func(*bolt.Bucket) error
		want   string
	}{
		"a gap in a log":            {del(logKey(id, 2)), "record 3 can't be read: it follows record 1"},
		"a chunk is gone":           {del(chunkKey(logKey(id, 2), 2)), "a chunk is missing"},
		"a chunk too many":          {put(chunkKey(logKey(id, 2), 9), one), "its key is odd"},
		"the end of a log is gone":  {del(logKey(id, 3)), "its log ends at 2, its state at 3"},
		"a log without state":       {del(stateKey(id)), "its log has no state"},
		"a format of the future":    {put(textKey(famBinding, "slack:x"), []byte{9, 1}), "its format 9 is unknown"},
		"a waiting entry unlisted":  {del(waitingKey(open, "open")), "it waits, but isn't listed"},
		"an ended entry unlisted":   {del(expiryKey(hour, ended)), "it may expire, but isn't listed"},
		"a list without entry":      {put(waitingKey(session.EntryID{Address: home, Key: "x"}, "1"), one), "which isn't there"},
		"a wrong list":              {put(waitingKey(ended, "ended"), one), "which doesn't belong there"},
		"a wrong hour":              {put(expiryKey(hour+1, ended), one), "which doesn't belong there"},
		"an entry uncounted":        {del(sumsKey()), "a count gives"},
		"a cursor beyond its log":   {put(textKey(famCursor, string(home)), far), "it stands at 9, the log ends at 3"},
		"a due beyond its log":      {put(textKey(famDue, string(home)), encodeSeq(4)), "record 4 is due"},
		"a message without reverse": {del(shownKey(session.MessageRef{Thread: id, Seq: 3}, home, "m")), "it has no reverse"},
		"a reverse without message": {del(messageKey(home, "m")), "the message isn't noted"},
		"an unknown family":         {put([]byte("zebra"), one), "its family 'z' is unknown"},
		"no JSON":                   {put(textKey(famPresence, string(home)), make17()), "presence"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			rawly(t, s, c.damage)
			err := s.Check(t.Context())
			if err == nil {
				t.Fatal("nothing was found")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func make17() []byte { return append([]byte{formatV1}, "1234567890123456{"...) }

func TestACorruptRecordIsNamed(t *testing.T) {
	s := filled(t)
	rawly(t, s, func(b *bolt.Bucket) error { return b.Put(logKey(threadNo(1), 2), []byte{formatV1, 't', '{'}) })
	log, err := s.Log(t.Context(), threadNo(1), 1, 10)
	var c *session.CorruptError
	if !errors.As(err, &c) || c.Seq != 2 || c.Thread != threadNo(1) || len(log) != 1 {
		t.Errorf("%d records, %v", len(log), err)
	}
	if log, err := s.Log(t.Context(), threadNo(1), 3, 10); err != nil || len(log) != 1 {
		t.Errorf("behind it: %d records, %v", len(log), err)
	}
	rawly(t, s, func(b *bolt.Bucket) error { return b.Put(entryKey(entry("open", 0, 0).ID), []byte{formatV1, 1}) })
	if _, _, err := s.Entry(t.Context(), entry("open", 0, 0).ID); !errors.As(err, &c) || c.Seq != 0 {
		t.Errorf("an entry: %v", err)
	}
	if _, err := session.CommitWait(t.Context(), s, accept("open")); !errors.As(err, &c) {
		t.Errorf("a batch that names it: %v", err)
	}
	must(t, s, accept("another"))
}

// An entry that can't be read, whether it is odd or gone, holds up nobody but itself: the others of its address are listed.
func TestAnUnreadableEntryIsLeftOutOfLists(t *testing.T) {
	heard := func(key string) session.Batch {
		return expiring(entry(key, session.EntryHeard, 0), session.Revision{}, noon())
	}
	for name, damage := range map[string]func(*bolt.Bucket, []byte) error{
		"odd":  func(b *bolt.Bucket, k []byte) error { return b.Put(k, []byte{formatV1, 1}) },
		"gone": func(b *bolt.Bucket, k []byte) error { return b.Delete(k) },
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			for _, b := range []session.Batch{accept("another"), heard("h1"), heard("h2")} {
				must(t, s, b)
			}
			rawly(t, s, func(b *bolt.Bucket) error {
				return errors.Join(damage(b, entryKey(entry("open", 0, 0).ID)), damage(b, entryKey(entry("h1", 0, 0).ID)))
			})
			list := func(what string, f func() ([]session.StoredEntry, error), want string) {
				t.Helper()
				found, err := f()
				var keys []string
				for _, e := range found {
					keys = append(keys, e.ID.Key)
				}
				if got := strings.Join(keys, " "); err != nil || got != want {
					t.Errorf("%s: %q, %v, want %q", what, got, err, want)
				}
			}
			list("waiting", func() ([]session.StoredEntry, error) { return s.Waiting(t.Context(), home) }, "another")
			list("heard", func() ([]session.StoredEntry, error) { return s.Heard(t.Context(), home, 10) }, "h2")
			list("all", func() ([]session.StoredEntry, error) { return s.EntriesAt(t.Context(), home, 10) }, "another ended h2")
		})
	}
}
