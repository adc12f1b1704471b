package bolt

import (
	"bytes"
	"context"
	"time"

	"orebot/core/session"
)

// maxSweepKeys is how many keys one commit of a sweep deletes.
const maxSweepKeys = 500

// Sweep forgets the entries that no longer wait and whose time is over, and adds their outcomes to the totals of the expired in the
// same commit. An entry is kept to the end of the hour in which it expires. It returns how many were forgotten.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	total := 0
	for {
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
		n, more, err := s.sweepOnce(ctx, now)
		total += n
		if err != nil || !more {
			return total, err
		}
	}
}

// sweepJob is one commit of a sweep.
type sweepJob struct {
	before uint32 // the first hour that is kept
	n      int
	more   bool
	done   chan error
}

func (s *Store) sweepOnce(ctx context.Context, now time.Time) (n int, more bool, err error) {
	j := &sweepJob{before: hourOf(now), done: make(chan error, 1)}
	s.enqueue(j)
	select {
	case err := <-j.done:
		return j.n, j.more, err
	case <-ctx.Done():
		return 0, false, context.Cause(ctx)
	}
}

func (j *sweepJob) size() int { return 0 }

func (j *sweepJob) finish(err error) { j.done <- err }

func (j *sweepJob) apply(w *writer) error {
	keys := 0
	for {
		k := j.next(w)
		if k == nil {
			return w.err
		}
		if keys >= maxSweepKeys || w.err != nil {
			j.more = w.err == nil
			return w.err
		}
		keys += j.expire(w, k)
	}
}

// next returns the oldest key of the expiry index whose time is over.
func (j *sweepJob) next(w *writer) []byte {
	k, _ := w.b.Cursor().Seek([]byte{famExpiry})
	if len(k) == 0 || k[0] != famExpiry {
		return nil
	}
	if hour, _, ok := entryOfExpiry(k); ok && hour >= j.before {
		return nil
	}
	return bytes.Clone(k)
}

// expire deletes an entry with its key in the expiry index, and returns how many keys that were. An index key that leads to no such
// entry goes alone; an entry that can't be read stays, for Check to find.
func (j *sweepJob) expire(w *writer, k []byte) int {
	w.remove(k)
	hour, id, ok := entryOfExpiry(k)
	if !ok {
		return 1
	}
	key := entryKey(id)
	h, err := w.entryHead(key)
	if err != nil || h == nil || h.state.Waits() || h.hour != hour {
		return 1
	}
	w.sums.expire(*h)
	j.n++
	n := 1 + w.drop(key)
	if h.state == session.EntryHeard {
		w.remove(heardKey(id, h.order))
		n++
	}
	return n
}
