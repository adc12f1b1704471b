package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// ask is what a goroutine beside the worker wants the worker to do.
type ask struct {
	f        func()
	done     chan struct{}
	panicked any
}

// serve does it. A panic goes back to who asked.
func (a *ask) serve() {
	defer close(a.done)
	defer func() {
		if r := recover(); r != nil {
			a.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
		}
	}()
	a.f()
}

// apart runs f, which may block, on a goroutine of its own. Meanwhile the worker stays with the thread, whose state is its alone: it
// does what f asks of it through own, and looks at what comes in, so that a stop reaches a turn that hangs.
func (s *Stream) apart(j *job, f func() error) error {
	if s.asks == nil {
		s.asks = make(chan *ask)
	}
	ctx, cancel := context.WithCancel(s.m.turns)
	defer cancel()
	done := make(chan error, 1)
	s.lent, s.hand = true, j
	defer func() { s.lent, s.hand, s.later = false, nil, nil }()
	s.startSides(ctx, j)
	go func() { done <- guarded(f) }()
	for {
		select {
		case err := <-done:
			defer time.AfterFunc(sideTime, cancel).Stop()
			s.awaitSides()
			return err
		case a := <-s.asks:
			a.serve()
		case <-s.bell:
			s.meanwhile(ctx, j)
		}
	}
}

// awaitSides returns when no command runs beside the job any more.
func (s *Stream) awaitSides() {
	for len(s.sides) > 0 {
		(<-s.asks).serve()
	}
}

// guarded makes an error of a panic.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{fmt.Sprintf("%v\n%s", r, debug.Stack())}
		}
	}()
	return f()
}

// own lets the worker do f, which touches the thread's state, and waits for it. It is called by what apart runs, and by the worker
// itself while nothing runs apart.
func (s *Stream) own(f func()) {
	if !s.lent {
		f()
		return
	}
	a := &ask{f: f, done: make(chan struct{})}
	s.asks <- a
	<-a.done
	if a.panicked != nil {
		panic(a.panicked)
	}
}

// ring tells the worker, should it be in apart, that something came in. The caller holds the Manager's lock.
func (s *Stream) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// meanwhile takes in what has come while a job is in hand. What can't be read now is read after it.
func (s *Stream) meanwhile(ctx context.Context, j *job) {
	s.m.mu.Lock()
	ids := s.inbox
	s.inbox = nil
	s.m.mu.Unlock()
	if err := s.absorb(ids); err != nil {
		s.m.mu.Lock()
		s.inbox = append(ids, s.inbox...)
		s.m.mu.Unlock()
	}
	s.startSides(ctx, j)
	s.heed(j)
}
