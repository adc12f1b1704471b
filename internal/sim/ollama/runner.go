package ollama

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/ollama/ollama/api"
)

// runner is a loaded model.
type runner struct {
	numCtx  int
	expires time.Time
	slots   chan struct{}
	refs    int  // calls that wait for a slot or have one
	closing bool // goes when nobody uses it any more
}

const busy = "server busy, please try again.  maximum pending requests exceeded"

// loaded returns the runner of m that is in memory now, or nil.
func (s *Server) loaded(m Model) *runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[m.Name]
	if r == nil || r.refs == 0 && !time.Now().Before(r.expires) {
		return nil
	}
	copied := *r
	return &copied
}

// fits returns the runner of m if it is in memory with this num_ctx.
func (s *Server) fits(m Model, numCtx int) *runner {
	if r := s.loaded(m); r == nil || r.numCtx != numCtx {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runners[m.Name]
}

// load brings m into memory with numCtx. A client that leaves meanwhile aborts it: the model isn't loaded then. More than
// MaxQueue requests behind the one that loads are refused with 503. A positive d loads again whatever is there.
func (s *Server) load(ctx context.Context, m Model, numCtx int, d time.Duration) (*runner, error) {
	if r := s.fits(m, numCtx); r != nil && d == 0 {
		return r, nil
	}
	if !s.enqueue() {
		return nil, &refusal{http.StatusServiceUnavailable, busy}
	}
	defer s.dequeue()
	select {
	case s.loading <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.loading }()
	if r := s.fits(m, numCtx); r != nil && d == 0 {
		return r, nil
	}
	if err := pause(ctx, cmp.Or(d, s.opt.Load)); err != nil {
		return nil, err
	}
	return s.put(m, numCtx), nil
}

func (s *Server) put(m Model, numCtx int) *runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &runner{numCtx: numCtx, expires: time.Now().Add(5 * time.Minute), slots: make(chan struct{}, s.opt.Parallel)}
	s.runners[m.Name] = r
	return r
}

func (s *Server) enqueue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued > s.opt.MaxQueue {
		return false
	}
	s.queued++
	return true
}

func (s *Server) dequeue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued--
}

// hold takes one of the runner's slots and returns how to give it back; keep says how long the model stays afterwards. A slot that is
// lost stays taken.
func (s *Server) hold(ctx context.Context, m Model, r *runner, keep *api.Duration) (release func(lost bool), err error) {
	s.mu.Lock()
	r.refs++
	s.mu.Unlock()
	leave := func() {
		if r.refs--; r.refs == 0 && r.closing && s.runners[m.Name] == r {
			delete(s.runners, m.Name)
		}
	}
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		leave()
		return nil, ctx.Err()
	}
	return func(lost bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.expires = until(keep)
		leave()
		if !lost {
			<-r.slots
		}
	}, nil
}

// loses reports whether the slot of a call that was left in the middle of its answer is one of those that are lost.
func (s *Server) loses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
	return s.lost <= s.opt.Leaks
}

// unload removes a model once nobody uses it any more.
func (s *Server) unload(m Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runners[m.Name]; r != nil && r.refs > 0 {
		r.closing = true
		return
	}
	delete(s.runners, m.Name)
}

// pause waits for d, or returns the error of ctx if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
