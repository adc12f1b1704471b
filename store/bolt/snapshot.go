package bolt

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// snapshot holds a read transaction of the newest state on disk while a commit is under way. bbolt shows a new state to readers as
// soon as it is written, one sync before it is durable; those that see it too early read here instead.
type snapshot struct {
	mu sync.Mutex
	tx *bolt.Tx
}

func (p *snapshot) open(db *bolt.DB) error {
	tx, err := db.Begin(false)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tx = tx
	return nil
}

func (p *snapshot) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.tx.Rollback() // of an open read transaction: never fails
	p.tx = nil
}

// view reads in the snapshot, if there is one.
func (p *snapshot) view(f func(*bolt.Bucket) error) (ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tx == nil {
		return false, nil
	}
	return true, f(p.tx.Bucket(bucketName))
}

// view runs f in a read transaction of what is on disk. f copies out what it returns, decodes nothing, and is short.
func (s *Store) view(ctx context.Context, f func(*bolt.Bucket) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &session.CorruptError{Err: fmt.Errorf("bbolt: %v", r)}
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := s.readable(); err != nil {
			return err
		}
		if done, err := s.tryView(f); done {
			return err
		}
	}
}

// tryView reads once; done is false if the state that it would have read is neither durable nor still being made so.
func (s *Store) tryView(f func(*bolt.Bucket) error) (done bool, err error) {
	tx, err := s.db.Begin(false)
	if err != nil {
		return true, fmt.Errorf("%w: %w", session.ErrClosed, err)
	}
	if int64(tx.ID()) <= s.durable.Load() {
		defer func() { _ = tx.Rollback() }()
		return true, f(tx.Bucket(bucketName))
	}
	_ = tx.Rollback()
	return s.prev.view(f)
}
