package bolt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// What one bbolt transaction takes at most, unless a single job is larger.
const (
	maxGroupJobs  = 256
	maxGroupBytes = 4 << 20
)

// job is one piece of work for the committer. apply puts it into the transaction, or returns why it costs only itself; finish
// tells its owner the outcome and is called exactly once, after the transaction.
type job interface {
	size() int
	apply(w *writer) error
	finish(err error)
}

// batchJob is a Batch that waits to be committed.
type batchJob struct {
	batch   prepared
	refusal error
	patient bool
	done    func(session.Result, error)
}

func (j *batchJob) size() int { return j.batch.bytes }

func (j *batchJob) apply(w *writer) error {
	if j.refusal != nil {
		return j.refusal
	}
	return j.batch.apply(w)
}

func (j *batchJob) finish(err error) {
	if j.refusal != nil {
		err = j.refusal
	}
	if err != nil {
		j.done(session.Result{}, err)
		return
	}
	j.done(session.Result{Rev: j.batch.id, Last: j.batch.last}, nil)
}

// Commit checks and encodes the Batch in the caller's goroutine and queues it; it never waits for the disk. done is called by the
// committer, also for a Batch that is refused, so that the outcomes of a thread come in order. The queue has no bound: what
// fills it is what waits for done. ctx is ignored: whoever has begun to write something down finishes.
func (s *Store) Commit(_ context.Context, b session.Batch, done func(session.Result, error)) {
	p, err := prepare(&b)
	s.enqueue(&batchJob{batch: p, refusal: err, patient: b.Patient, done: done})
}

// drain is the committer: it commits group after group until nothing waits. Close waits for idle to be closed.
func (s *Store) drain(idle chan struct{}) {
	defer close(idle)
	for {
		group, closed := s.take()
		if len(group) == 0 {
			return
		}
		err := s.refuses()
		if closed && err == nil {
			err = session.ErrClosed
		}
		if err != nil {
			finish(group, nil, err)
			continue
		}
		s.process(group)
	}
}

// process commits one group and tells everybody.
func (s *Store) process(group []job) {
	refusals := make([]error, len(group))
	w := &writer{sums: s.sums.clone()}
	started := time.Now()
	wrote, err := s.transact(group, refusals, w)
	if err != nil {
		s.fail(err)
		finish(group, nil, fmt.Errorf("%w: %w", session.ErrUnknown, err))
		return
	}
	if wrote {
		s.sums = w.sums
		s.count(time.Since(started), group, refusals, w.bytes)
		s.feed.announce(w.opened)
	}
	finish(group, refusals, nil)
}

// finish tells each job its refusal, or err where there are none.
func finish(group []job, refusals []error, err error) {
	for i, j := range group {
		if refusals != nil {
			err = refusals[i]
		}
		j.finish(err)
	}
}

// transact runs one write transaction. An error means that nobody knows what of it is on disk. A panic of bbolt, and a page of
// the file that the system can't read, is such an error too.
func (s *Store) transact(group []job, refusals []error, w *writer) (wrote bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	tx, err := s.db.Begin(true)
	if err != nil {
		return false, err
	}
	defer func() {
		if r := recover(); r != nil {
			s.wedged.Store(true)
			err = fmt.Errorf("bbolt: %v", r)
		}
	}()
	w.b = tx.Bucket(bucketName)
	if w.b == nil {
		return false, errors.Join(errors.New("the bucket is gone"), tx.Rollback())
	}
	for i, j := range group {
		refusals[i] = j.apply(w)
		if w.err != nil {
			return false, errors.Join(w.err, tx.Rollback())
		}
	}
	if !w.wrote {
		return false, tx.Rollback()
	}
	return true, s.commit(tx, w)
}

// commit puts the sums and ends the transaction. Meanwhile s.prev shows readers what is on disk.
func (s *Store) commit(tx *bolt.Tx, w *writer) error {
	if !w.sums.equal(s.sums) {
		v, err := w.sums.encode()
		if err == nil {
			w.put(sumsKey(), seal(v))
			err = w.err
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	id, size := int64(tx.ID()), tx.Size()
	if err := s.prev.open(s.db, s.room(tx, w)); err != nil {
		s.fail(err)
		s.prev.close()
		return errors.Join(err, tx.Rollback())
	}
	err := tx.Commit()
	if err != nil {
		s.fail(err) // before a reader finds prev gone
	} else {
		s.durable.Store(id)
		s.mapped = max(s.mapped, mappedFor(size))
	}
	s.prev.close()
	return err
}
