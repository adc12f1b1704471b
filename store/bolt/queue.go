package bolt

import (
	"time"

	"orebot/core/session"
)

// enqueue hands a job to the committer, and starts one if none runs and somebody waits.
func (s *Store) enqueue(j job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, j)
	switch {
	case s.idle != nil: // the running one finds it
	case s.patient():
		s.arm()
	default:
		s.begin()
	}
}

// begin starts a committer. The caller holds the lock, and none runs.
func (s *Store) begin() {
	s.idle = make(chan struct{})
	go s.drain(s.idle)
}

// patient reports whether nobody waits for anything in the queue. The caller holds the lock.
func (s *Store) patient() bool {
	for _, j := range s.queue {
		if b, ok := j.(*batchJob); !ok || !b.patient {
			return false
		}
	}
	return len(s.queue) > 0
}

// arm sees to it that what is patient isn't forgotten. The caller holds the lock.
func (s *Store) arm() {
	if s.ripen == nil {
		s.ripen = time.AfterFunc(session.Patience, s.hurry)
	}
}

// hurry ends the patience of all that waits now.
func (s *Store) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ripen, s.ripe = nil, true
	if s.idle == nil && len(s.queue) > 0 {
		s.begin()
	}
}

// take removes the jobs of the next transaction from the queue. Once it returns none, the committer is gone: nothing waits, or
// only what is patient. What was queued before Close is still committed.
func (s *Store) take() (group []job, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.ripe && s.patient() {
		s.idle = nil
		s.arm()
		return nil, false
	}
	s.ripe = false
	n := s.fitting()
	if n == 0 {
		s.idle, s.queue = nil, nil
		return nil, s.closed
	}
	closed = s.closed && s.accepted == 0
	s.accepted = max(0, s.accepted-n)
	group = s.queue[:n:n]
	s.queue = s.queue[n:]
	return group, closed
}

// fitting counts the jobs at the front of the queue that go into one transaction. The caller holds the lock.
func (s *Store) fitting() int {
	limit := len(s.queue)
	if s.closed && s.accepted > 0 {
		limit = s.accepted
	}
	n, bytes := 0, 0
	for n < limit && n < maxGroupJobs {
		bytes += s.queue[n].size()
		if n > 0 && bytes > maxGroupBytes {
			break
		}
		n++
	}
	return n
}
