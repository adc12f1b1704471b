package bolt

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// writer is one write transaction while the committer puts jobs into it. The first error of bbolt sticks in err and fails the
// whole transaction; what a job is refused for doesn't.
type writer struct {
	b      *bolt.Bucket
	sums   sums
	wrote  bool
	bytes  int64
	puts   int64             // puts and deletions
	opened []session.EntryID // came to wait
	err    error
}

// put replaces the value under key, with its chunks.
func (w *writer) put(key []byte, v value) {
	old := chunksOf(w.b.Get(key))
	w.raw(key, v.head)
	for i, c := range v.rest {
		w.raw(chunkKey(key, i+1), c)
	}
	for i := len(v.rest) + 1; i <= old; i++ {
		w.remove(chunkKey(key, i))
	}
}

// drop deletes the value under key, with its chunks, and returns how many keys that were.
func (w *writer) drop(key []byte) int {
	n := chunksOf(w.b.Get(key))
	for i := 0; i <= n; i++ {
		if i == 0 {
			w.remove(key)
			continue
		}
		w.remove(chunkKey(key, i))
	}
	return n + 1
}

func (w *writer) raw(key, v []byte) {
	if w.err != nil {
		return
	}
	w.wrote = true
	w.puts++
	w.bytes += int64(len(key) + len(v))
	w.err = w.b.Put(key, v)
}

func (w *writer) remove(key []byte) {
	if w.err != nil {
		return
	}
	w.wrote = true
	w.puts++
	w.bytes += int64(len(key))
	w.err = w.b.Delete(key)
}

// revision returns the revision of the record under key; zero where there is none.
func (w *writer) revision(key []byte) (session.Revision, error) {
	body, ok, err := w.front(key)
	if !ok || err != nil {
		return session.Revision{}, err
	}
	rev, _, err := revisionOf(body)
	return rev, corrupt(key, err)
}

// front returns the part of a value under its own key, without the chunks.
func (w *writer) front(key []byte) (body []byte, ok bool, err error) {
	head := w.b.Get(key)
	if head == nil {
		return nil, false, nil
	}
	body, _, err = open(head)
	return body, true, corrupt(key, err)
}

// corrupt says that the record under key can't be read; nil if err is.
func corrupt(key []byte, err error) error {
	if err == nil {
		return nil
	}
	e := &session.CorruptError{Err: err}
	if len(key) >= stateKeyLen && key[0] == famThread {
		e.Thread = ledger.ThreadID(key[1:17])
		if len(key) >= logKeyLen && key[17] == threadLog {
			e.Seq = ledger.Seq(binary.BigEndian.Uint64(key[18:]))
		}
		return e
	}
	e.Err = fmt.Errorf("%s: %w", describe(key), err)
	return e
}

// conflicts collects the preconditions of one Batch that failed.
type conflicts struct {
	id      session.BatchID
	first   string // the first that isn't optional, else the first
	hard    bool
	any     bool
	applied bool
}

func (c *conflicts) check(key []byte, have, want session.Revision, optional bool) {
	c.applied = c.applied || have == c.id
	if have != want {
		c.fail(key, optional)
	}
}

func (c *conflicts) fail(key []byte, optional bool) {
	if !c.any || !optional && !c.hard {
		c.first = describe(key)
	}
	c.any = true
	c.hard = c.hard || !optional
}

func (c *conflicts) err() error {
	if !c.any {
		return nil
	}
	return &session.Conflict{What: c.first, Applied: c.applied, OnlyOptional: !c.hard && !c.applied}
}
