package ollama

import (
	"context"
	"sync"
	"time"
)

const (
	asideFirst = time.Second // how long a host is set aside at its first failure; twice as long at each further one
	asideMost  = time.Minute
	doubtTime  = 2 * time.Second // how long a host that was set aside may take to answer the ping before it gets a call again
	lackTime   = time.Minute     // how long a model that wasn't there is looked for at other hosts first
)

// The groups in which hosts are asked.
const (
	standsWell = iota
	standsWithout
	standsAside
)

// health is how a host has done lately.
type health struct {
	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // it is set aside until then
	lacks    map[string]time.Time
}

// well notes that the host has answered; it reports whether that is news.
func (h *health) well() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.failures > 0
	h.failures, h.until = 0, time.Time{}
	return news
}

// aside notes that the host has failed, and how long it asked to be left alone; it reports whether that is news.
func (h *health) aside(after time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := min(asideFirst<<min(h.failures, 10), asideMost)
	h.failures++
	h.until = time.Now().Add(max(d, after))
	return h.failures == 1
}

// doubted reports whether the last call failed.
func (h *health) doubted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failures > 0
}

// standing returns the host's group for a call of model.
func (h *health) standing(model string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case time.Now().Before(h.until):
		return standsAside
	case time.Since(h.lacks[model]) < lackTime:
		return standsWithout
	}
	return standsWell
}

// lack notes that the model isn't there, or is.
func (h *health) lack(model string, missing bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !missing {
		delete(h.lacks, model)
		return
	}
	for m, at := range h.lacks {
		if time.Since(at) >= lackTime {
			delete(h.lacks, m)
		}
	}
	if h.lacks == nil {
		h.lacks = map[string]time.Time{}
	}
	h.lacks[model] = time.Now()
}

// slots bounds the calls at one host; nil is no bound. Who waits is let in in the order of arrival.
type slots chan struct{}

func (s slots) tryEnter() bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// enter waits for a slot, or for the end of ctx, whose error it returns.
func (s slots) enter(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) leave() {
	if s != nil {
		<-s
	}
}
