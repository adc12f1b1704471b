package bolt

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

var (
	_ session.Store = (*Store)(nil)
	_ session.Lease = (*Store)(nil)
)

// Options of Open. The zero Options are usable.
type Options struct {
	// Logger gets what an operator may want to know of the file; nil: nothing is logged.
	Logger *slog.Logger
	// LockTimeout is how long Open waits for another process to let go of the file; zero: one second.
	LockTimeout time.Duration
	// OnCommit, where set, is told of each transaction on disk: how long it took and how many Batches it holds. It runs in
	// the committer and must not block.
	OnCommit func(took time.Duration, batches int)

	mmapSize int // for tests: a small file
}

// Store is a session.Store in one bbolt file. Its methods are safe for concurrent use.
type Store struct {
	db   *bolt.DB
	opts Options
	path string

	mu       sync.Mutex
	queue    []job
	accepted int           // once closed: how many at the front of the queue were there before
	idle     chan struct{} // closed when the running committer is done; nil while none runs
	ripen    *time.Timer   // ends the patience of what waits; nil while nothing does
	ripe     bool          // it has ended
	closed   bool
	failure  error

	sums    sums  // the committer's
	mapped  int64 // the committer's: bytes of the file that are surely mapped
	feed    feed
	prev    snapshot
	durable atomic.Int64 // the transaction that is on disk
	wedged  atomic.Bool  // bbolt panicked and can't be closed
	failed  chan struct{}
	lost    chan struct{} // never closed: bbolt's lock is never lost
	stats   counters
}

// counters are the running figures behind Stats.
type counters struct {
	commits, batches, bytes atomic.Uint64
}

// Stats are figures since Open.
type Stats struct {
	Commits  uint64 // transactions on disk
	Batches  uint64 // Batches in them
	Bytes    uint64 // of keys and values put or dropped in them
	FileSize int64  // bytes, now
	QueueLen int    // Batches that wait, now
}

// refuses returns why the store takes no more work: what broke it, wrapped in session.ErrClosed.
func (s *Store) refuses() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return fmt.Errorf("%w: %w", session.ErrClosed, s.failure)
	}
	return nil
}

// readable returns why nothing can be read any more.
func (s *Store) readable() error {
	if err := s.refuses(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return session.ErrClosed
	}
	return nil
}

// fail makes the store refuse everything from now on.
func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return
	}
	s.failure = err
	close(s.failed)
	s.feed.close()
	s.opts.Logger.Error("the state database failed", "path", s.path, "err", err)
}

// Failed is closed when a commit has failed. The process must end then: only the next start can tell what is in the file.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns what closed Failed; nil while the store works.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// QueueLen returns how many Batches wait for the committer.
func (s *Store) QueueLen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Stats returns the store's figures.
func (s *Store) Stats() Stats {
	st := Stats{
		Commits:  s.stats.commits.Load(),
		Batches:  s.stats.batches.Load(),
		Bytes:    s.stats.bytes.Load(),
		QueueLen: s.QueueLen(),
	}
	if fi, err := os.Stat(s.path); err == nil {
		st.FileSize = fi.Size()
	}
	return st
}

func (s *Store) count(took time.Duration, group []job, refusals []error, bytes int64) {
	n := 0
	for i, j := range group {
		if _, ok := j.(*batchJob); ok && refusals[i] == nil {
			n++
		}
	}
	s.stats.commits.Add(1)
	s.stats.batches.Add(uint64(n))
	s.stats.bytes.Add(uint64(bytes))
	if s.opts.OnCommit != nil {
		s.opts.OnCommit(took, n)
	}
}

// Close commits what waits, writes bbolt's list of free pages, so that the next start needn't look for them, and closes the file.
// Batches that come later fail with session.ErrClosed. Reads that are under way are waited for. Closing again does nothing.
func (s *Store) Close() error {
	if !s.stop() {
		return nil
	}
	s.feed.close()
	if s.wedged.Load() {
		return nil // the process is about to end, and bbolt would wait for ever
	}
	var err error
	if s.Err() == nil {
		err = guarded(s.writeFreelist)
	}
	if cerr := s.db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("bolt: close %s: %w", s.path, err)
	}
	return nil
}

// stop marks the store closed and waits for the committer; false if it was closed before.
func (s *Store) stop() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.closed, s.accepted = true, len(s.queue)
	if s.idle == nil && len(s.queue) > 0 {
		s.begin()
	}
	if s.ripen != nil {
		s.ripen.Stop()
	}
	idle := s.idle
	s.mu.Unlock()
	if idle != nil {
		<-idle
	}
	return true
}

// writeFreelist makes one commit that holds the list. Nobody else commits any more.
func (s *Store) writeFreelist() error {
	s.db.NoFreelistSync = false
	return s.db.Update(func(*bolt.Tx) error { return nil })
}

// Acquire implements session.Lease: who has the file open holds every lease.
func (s *Store) Acquire(ctx context.Context, _ string) error { return ctx.Err() }

// Valid implements session.Lease.
func (s *Store) Valid() bool { return s.Err() == nil }

// Lost implements session.Lease: the lock is lost only with the process.
func (s *Store) Lost() <-chan struct{} { return s.lost }
