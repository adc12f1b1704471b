package bolt

import (
	"bytes"
	"context"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

const (
	listChunk  = 256     // waiting entries listed in one read transaction
	maxBacklog = 1 << 16 // announcements a slow watcher may be behind before it lists again
)

// feed tells watchers which entries came to wait.
type feed struct {
	mu       sync.Mutex
	watchers []*watcher
	closed   bool
}

// watcher is one Watch: what it has still to name. wake holds a token while there may be something to do.
type watcher struct {
	backlog []session.EntryID
	relist  bool
	closed  bool
	wake    chan struct{}
}

func (f *feed) add() *watcher {
	w := &watcher{wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.closed = f.closed
	w.signal()
	f.watchers = append(f.watchers, w)
	return w
}

func (f *feed) remove(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = slices.DeleteFunc(f.watchers, func(o *watcher) bool { return o == w })
}

// announce adds to every watcher's backlog and never waits for one. A watcher too far behind lists from the start.
func (f *feed) announce(ids []session.EntryID) {
	if len(ids) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.watchers {
		if len(w.backlog)+len(ids) > maxBacklog {
			w.backlog, w.relist = nil, true
		} else {
			w.backlog = append(w.backlog, ids...)
		}
		w.signal()
	}
}

// close ends every Watch, now and later.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, w := range f.watchers {
		w.closed = true
		w.signal()
	}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns what is to be named now.
func (f *feed) take(w *watcher) (ids []session.EntryID, relist, closed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids, relist = w.backlog, w.relist
	w.backlog, w.relist = nil, false
	return ids, relist, w.closed
}

// Watch implements session.Feed. It returns session.ErrClosed once the store is closed or has failed. f runs in the caller's
// goroutine; while it is slow, at most 65,536 announcements pile up, and beyond that all waiting entries are listed again.
func (s *Store) Watch(ctx context.Context, f func(session.EntryID)) error {
	w := s.feed.add() // before the listing, so that nothing falls between
	defer s.feed.remove(w)
	relist := true
	for {
		if relist {
			if err := s.listWaiting(ctx, f); err != nil {
				return watchEnd(ctx, err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		ids, again, closed := s.feed.take(w)
		for _, id := range ids {
			f(id)
		}
		if closed {
			return session.ErrClosed
		}
		relist = again
	}
}

func watchEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// listWaiting calls f for every waiting entry, chunk by chunk, outside the transactions.
func (s *Store) listWaiting(ctx context.Context, f func(session.EntryID)) error {
	from := []byte{famWaiting}
	for from != nil {
		var ids []session.EntryID
		err := s.view(ctx, func(b *bolt.Bucket) error {
			ids, from = waitingFrom(b, from)
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			f(id)
		}
	}
	return nil
}

// waitingFrom reads a chunk of the index of waiting entries; next is nil at its end.
func waitingFrom(b *bolt.Bucket, from []byte) (ids []session.EntryID, next []byte) {
	c := b.Cursor()
	for k, _ := c.Seek(from); len(k) > 0 && k[0] == famWaiting; k, _ = c.Next() {
		if len(ids) == listChunk {
			return ids, bytes.Clone(k)
		}
		if id, _, ok := entryOfWaiting(k); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
