package bolt

import (
	"bytes"
	"context"

	"orebot/core/ledger"
	"orebot/core/session"
)

// maxEraseKeys is about how many keys one commit of Erase deletes; a long record may make it some hundred more.
const maxEraseKeys = 500

// Erase implements session.Eraser.
func (s *Store) Erase(ctx context.Context, id ledger.ThreadID) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		more, err := s.eraseOnce(ctx, id)
		if err != nil || !more {
			return err
		}
	}
}

func (s *Store) eraseOnce(ctx context.Context, id ledger.ThreadID) (more bool, err error) {
	j := &eraseJob{id: id, done: make(chan error, 1)}
	s.enqueue(j)
	select {
	case err := <-j.done:
		return j.more, err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// eraseJob is one commit of Erase: first go the notes of messages, then the log from its end.
type eraseJob struct {
	id   ledger.ThreadID
	more bool
	done chan error
}

func (j *eraseJob) size() int { return 0 }

func (j *eraseJob) finish(err error) { j.done <- err }

func (j *eraseJob) apply(w *writer) error {
	if n := j.unshow(w); n > 0 {
		j.more = true
		return w.err
	}
	key := stateKey(j.id)
	body, ok, err := read(w.b, key)
	if !ok && err == nil {
		return w.err
	}
	var t session.Thread
	var rev session.Revision
	if err == nil {
		t, rev, err = decodeThread(body)
	}
	if err != nil { // nobody can read it, so that nothing is lost with its order
		j.raze(w)
		return w.err
	}
	return j.shorten(w, key, t, rev)
}

// unshow removes notes of which message shows what, both ways, and returns how many.
func (j *eraseJob) unshow(w *writer) int {
	keys := keysUnder(w, append([]byte{famShown}, j.id[:]...))
	for _, k := range keys {
		w.remove(k)
		const numbers = 16 + 8
		p, ok := parts(k[min(numbers, len(k)):], 2)
		if !ok {
			continue
		}
		note := messageKey(session.Address(p[0]), p[1])
		if body, ok, err := w.front(note); ok && err == nil {
			if ref, err := decodeRef(body); err == nil && ref.Thread == j.id {
				w.remove(note)
			}
		}
	}
	return len(keys)
}

// shorten deletes the last records of the log, and the state with the first one.
func (j *eraseJob) shorten(w *writer, key []byte, t session.Thread, rev session.Revision) error {
	for n := 0; t.Last > 0 && n < maxEraseKeys; t.Last-- {
		n += w.drop(logKey(j.id, t.Last))
	}
	if t.Last == 0 {
		w.drop(key)
		return w.err
	}
	j.more = true
	t.Window = min(t.Window, t.Last)
	if t.Tip > t.Last {
		t.Tip = 0
	}
	v, err := encodeThread(rev, t)
	if err != nil {
		return err
	}
	w.put(key, seal(v))
	return w.err
}

// raze deletes keys of the thread in their order: the log's, then the state's.
func (j *eraseJob) raze(w *writer) {
	keys := keysUnder(w, append([]byte{famThread}, j.id[:]...))
	for _, k := range keys {
		w.remove(k)
	}
	j.more = len(keys) == maxEraseKeys/2
}

// keysUnder returns the first keys that begin with a prefix: half of what one commit deletes, since there may be a second to each.
func keysUnder(w *writer, prefix []byte) (keys [][]byte) {
	c := w.b.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(keys) < maxEraseKeys/2; k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	return keys
}
