package bolt

import (
	"bytes"
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// seeds adds every value that the specimen leaves in a file.
func seeds(f *testing.F, families string) {
	s := fresh(f)
	for _, b := range specimen() {
		must(f, s, b)
	}
	err := s.view(f.Context(), func(b *bolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			if bytes.IndexByte([]byte(families), k[0]) < 0 {
				return nil
			}
			if body, n, err := open(v); err == nil && n == 0 {
				f.Add(bytes.Clone(body))
			}
			return nil
		})
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(nil))
}

// FuzzLogRecord: whatever is read is written again as something that reads the same.
func FuzzLogRecord(f *testing.F) {
	seeds(f, "t")
	f.Fuzz(func(t *testing.T, v []byte) {
		r, err := decodeLog(7, v)
		if err != nil {
			return
		}
		again, err := encodeLog(r)
		if err != nil {
			return // such as a turn with an artifact that can be read but not be written
		}
		r2, err := decodeLog(7, again[1:])
		if err != nil || r2.Kind != r.Kind {
			t.Fatalf("%+v became %+v, %v", r, r2, err)
		}
	})
}

// FuzzRecords reads bytes as every other kind of value.
func FuzzRecords(f *testing.F) {
	seeds(f, "bcpdmnktsv")
	f.Fuzz(func(t *testing.T, v []byte) {
		if th, rev, err := decodeThread(v); err == nil {
			again, err := encodeThread(rev, th)
			th2, rev2, err2 := decodeThread(again[1:])
			third, err3 := encodeThread(rev2, th2)
			if err := errors.Join(err, err2, err3); err != nil || rev2 != rev || !bytes.Equal(again, third) {
				t.Fatalf("%+v became %+v, %v", th, th2, err)
			}
		}
		if r, err := decodeRef(v); err == nil && !bytes.Equal(encodeRef(r)[1:], v) {
			t.Fatalf("%+v is written otherwise", r)
		}
		if n, err := decodeSeq(v); err == nil && !bytes.Equal(encodeSeq(n)[1:], v) {
			t.Fatalf("%d is written otherwise", n)
		}
		_, _, _ = decodeRecord[session.Binding](v)
		_, _, _ = decodeRecord[session.Cursor](v)
		_, _, _ = decodeRecord[session.Presence](v)
		_, _ = decodeSums(v)
		_, _ = decodeSchema(v)
		_, _, _ = open(v)
	})
}

// FuzzEntry reads bytes as an entry: its front never says what its body doesn't.
func FuzzEntry(f *testing.F) {
	seeds(f, "e")
	f.Fuzz(func(t *testing.T, v []byte) {
		h, _, err := decodeEntryHead(v)
		e, err2 := decodeEntry(entry("1", 0, 0).ID, v)
		if err != nil && err2 == nil {
			t.Fatal("an entry without a front")
		}
		if err2 == nil && (e.State != h.state || e.End != h.end || e.Rev != h.rev || e.Inbound.Order != h.order) {
			t.Fatalf("front %+v, entry %+v", h, e)
		}
	})
}

// FuzzKeys reads bytes as keys.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("oslack:T1/D1\x001\x00k"))
	f.Add([]byte("x\x00\x00\x00\x01slack:T1/D1\x00k"))
	f.Fuzz(func(t *testing.T, k []byte) {
		if id, order, ok := entryOfWaiting(k); ok && k[0] == famWaiting && !bytes.Equal(waitingKey(id, order), k) {
			t.Fatalf("%q is written otherwise", k)
		}
		if hour, id, ok := entryOfExpiry(k); ok && k[0] == famExpiry && !bytes.Equal(expiryKey(hour, id), k) {
			t.Fatalf("%q is written otherwise", k)
		}
		_ = describe(k)
	})
}

// FuzzPages reads bytes as a file: a damaged one is refused, never a panic.
func FuzzPages(f *testing.F) {
	path := f.TempDir() + "/orebot.db"
	s, err := Open(path, Options{mmapSize: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range specimen() {
		must(f, s, b)
	}
	data := readFile(f, path) // as after a kill: bbolt will look at each page
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	for at := 0; at < len(data); at += 512 {
		f.Add(uint32(at), []byte{0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, at uint32, noise []byte) {
		file := bytes.Clone(data)
		if int(at) < len(file) {
			copy(file[at:], noise)
		}
		damaged := t.TempDir() + "/orebot.db"
		writeFile(t, damaged, file)
		s, err := Open(damaged, Options{mmapSize: 1})
		if err != nil {
			return
		}
		_ = s.Check(t.Context()) // may find what it likes
		if err := s.Close(); err != nil {
			t.Log(err)
		}
	})
}
