package loop

import (
	"slices"
	"sync"
)

const (
	// maxLag is how many events a subscriber may be behind.
	maxLag = 100_000
	// window is how many of them its channel holds.
	window = 16
)

// subscriber is one channel of a FanOut. Events go straight into the channel
// while it has room. When it is full they queue up, and a pump moves them until
// the queue is empty again.
type subscriber struct {
	out   chan OutputEvent
	kinds []string // empty: all
	limit int      // of the queue

	mu      sync.Mutex
	queue   queue
	pumping bool          // a pump is running; only it sends to out
	room    chan struct{} // made by a deliver that waits, closed by the pump
}

func newSubscriber(kinds []string) *subscriber {
	return &subscriber{
		out:   make(chan OutputEvent, window),
		kinds: slices.Clone(kinds),
		limit: maxLag - window,
	}
}

func (s *subscriber) wants(kind string) bool {
	return len(s.kinds) == 0 || slices.Contains(s.kinds, kind)
}

// deliver hands over one event. It waits while the subscriber is too far behind
// and gives up when stop is closed. Only one goroutine may deliver.
func (s *subscriber) deliver(ev OutputEvent, stop <-chan struct{}, pumps *sync.WaitGroup) {
	for {
		room := s.offer(ev, stop, pumps)
		if room == nil {
			return
		}
		select {
		case <-room:
		case <-stop:
			return
		}
	}
}

// offer takes the event and returns nil, or returns what to wait for.
func (s *subscriber) offer(ev OutputEvent, stop <-chan struct{}, pumps *sync.WaitGroup) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.pumping {
		select {
		case s.out <- ev:
			return nil
		default:
		}
		s.pumping = true
		pumps.Go(func() { s.pump(stop) })
	}
	if s.queue.n >= s.limit {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		return s.room
	}
	s.queue.push(ev)
	return nil
}

// pump moves the queue into the channel and ends when the queue is empty or
// stop is closed.
func (s *subscriber) pump(stop <-chan struct{}) {
	for {
		ev, ok := s.next()
		if !ok {
			return
		}
		select {
		case s.out <- ev:
			s.sent()
		case <-stop:
			return
		}
	}
}

// next returns the oldest queued event, or ends the pumping.
func (s *subscriber) next() (OutputEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.n == 0 {
		s.queue.release()
		s.pumping = false
		return nil, false
	}
	return s.queue.front(), true
}

// sent drops the event that next returned and lets a waiting deliver go on.
func (s *subscriber) sent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.pop()
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}
