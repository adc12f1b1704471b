package slack

import (
	"errors"
	"sync"
	"time"

	"orebot/conduit"
)

var errQuiet = errors.New("Slack asked for silence")

// silence holds back methods that a sign is shown with. Signs aren't worth waiting for: a held one fails at once.
type silence struct {
	mu      sync.Mutex
	methods map[string]hush
}

// hush is until when a method is not called, and what Slack said.
type hush struct {
	until time.Time
	err   error
}

// hold keeps a method silent for d.
func (s *silence) hold(method string, d time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.methods == nil {
		s.methods = map[string]hush{}
	}
	s.methods[method] = hush{time.Now().Add(d), err}
}

// held returns why a method is silent; nil: it isn't.
func (s *silence) held(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.methods[method]
	if !ok {
		return nil
	}
	switch left := time.Until(h.until); {
	case left > 0 && errors.Is(h.err, errQuiet):
		return &conduit.Error{Class: conduit.RetryAfter, After: left, Err: h.err}
	case left > 0:
		return h.err
	}
	delete(s.methods, method)
	return nil
}
