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
	mu   sync.Mutex
	tx   *bolt.Tx      // nil where the commit may have to map the file anew: bbolt would wait for tx for ever
	done chan struct{} // closed at the end of the commit; nil while there is none
}

// open begins the time of a commit. Without room in the map, readers that see too much wait for the end of it.
func (p *snapshot) open(db *bolt.DB, room bool) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if room {
		p.tx, err = db.Begin(false)
	}
	p.done = make(chan struct{})
	return err
}

// close ends the time of a commit.
func (p *snapshot) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tx != nil {
		_ = p.tx.Rollback() // of an open read transaction: never fails
	}
	close(p.done)
	p.tx, p.done = nil, nil
}

// view reads in the snapshot, if there is one; otherwise it returns what to wait for, if there is anything.
func (p *snapshot) view(f func(*bolt.Bucket) error) (ok bool, wait <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tx == nil {
		return false, p.done, nil
	}
	return true, nil, f(p.tx.Bucket(bucketName))
}

// Bounds of what one put or deletion makes a commit allocate: pages from the leaf to the root, and those that they are split into.
const (
	pagesPerPut = 16
	mapStep     = 1 << 30 // bbolt maps files beyond 1 GiB in these steps
)

// room reports whether the map surely holds all that the transaction can allocate.
func (s *Store) room(tx *bolt.Tx, w *writer) bool {
	page := int64(s.db.Info().PageSize)
	return tx.Size()+4*w.bytes+(w.puts*pagesPerPut+16)*page < s.mapped
}

// mappedFor is what bbolt maps for a file of that size, or less.
func mappedFor(size int64) int64 {
	if size > mapStep {
		return (size + mapStep - 1) / mapStep * mapStep
	}
	return size
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
		done, wait, err := s.tryView(f)
		if done {
			return err
		}
		if wait != nil {
			select {
			case <-wait:
			case <-ctx.Done():
			}
		}
	}
}

// tryView reads once; done is false if the state that it would have read isn't durable and there is no
// snapshot: after wait, where it is set, it is worth trying again.
func (s *Store) tryView(f func(*bolt.Bucket) error) (done bool, wait <-chan struct{}, err error) {
	tx, err := s.db.Begin(false)
	if err != nil {
		return true, nil, fmt.Errorf("%w: %w", session.ErrClosed, err)
	}
	if int64(tx.ID()) <= s.durable.Load() {
		defer func() { _ = tx.Rollback() }()
		return true, nil, f(tx.Bucket(bucketName))
	}
	_ = tx.Rollback()
	return s.prev.view(f)
}
