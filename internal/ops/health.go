package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orebot/core/observe"
)

// kind says how much of the daemon hangs on a component.
type kind uint8

const (
	plain    kind = iota // each must be ready
	platform             // each must be ready, and has figures
	model                // one of them must be ready
)

// Health knows what works. A component is ready once a real round trip succeeded (Beat) and while nothing said
// otherwise (Set); where it has a largest age, its last success must be younger. It is safe for concurrent use.
type Health struct {
	now     func() time.Time
	liveFor time.Duration

	mu    sync.Mutex
	tick  time.Time
	parts []*part
	notes []Note
}

type part struct {
	name   string
	kind   kind
	maxAge time.Duration
	ready  bool
	reason string
	since  time.Time // of ready or reason
	last   time.Time // success
}

// Reason says why a component isn't ready.
type Reason struct {
	Component string    `json:"component"`
	Reason    string    `json:"reason"`
	Since     time.Time `json:"since"`
}

// NewHealth returns a Health that is live while Tick is called at least every liveFor, which also is the time until
// the first one. It knows no component yet, and is ready therefore.
func NewHealth(now func() time.Time, liveFor time.Duration) *Health {
	return &Health{now: now, liveFor: liveFor, tick: now()}
}

// Need makes readiness depend on a component such as "store". A maxAge of 0 is no limit.
func (h *Health) Need(component string, maxAge time.Duration) { h.need(component, plain, maxAge) }

// NeedPlatform makes readiness depend on a platform. A maxAge of 0 is no limit.
func (h *Health) NeedPlatform(name string, maxAge time.Duration) { h.need(name, platform, maxAge) }

// NeedModel makes readiness depend on this model host or one of the others that are needed.
func (h *Health) NeedModel(host string) { h.need(host, model, 0) }

func (h *Health) need(name string, k kind, maxAge time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.part(name)
	p.kind, p.maxAge = k, maxAge
}

// Set says that a component works or doesn't. Ready alone makes nobody ready: that takes a Beat. The reason is a
// sentence for an operator; a component that nobody needed is needed from now on.
func (h *Health) Set(component string, ready bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.part(component)
	if p.ready != ready || p.reason != reason {
		p.since = h.now()
	}
	p.ready, p.reason = ready, reason
}

// Beat says that a real round trip of the component has just succeeded.
func (h *Health) Beat(component string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.part(component)
	p.last = h.now()
	if !p.ready {
		p.ready, p.since = true, p.last
	}
	p.reason = ""
}

// Tick says that the daemon's main loop turns.
func (h *Health) Tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick = h.now()
}

// Live returns an error if the main loop has stood still for too long.
func (h *Health) Live() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if still := h.now().Sub(h.tick); still > h.liveFor {
		return fmt.Errorf("the main loop has stood still for %s", still.Round(time.Second))
	}
	return nil
}

// NotReady returns why the daemon isn't ready, by component. None means that it is.
func (h *Health) NotReady() []Reason {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out, models []Reason
	modelUp := false
	for _, p := range h.parts {
		err := h.check(p)
		switch {
		case p.kind == model && err == nil:
			modelUp = true
		case p.kind == model:
			models = append(models, Reason{p.name, err.Error(), p.since})
		case err != nil:
			out = append(out, Reason{p.name, err.Error(), p.since})
		}
	}
	if !modelUp {
		out = append(out, models...)
	}
	slices.SortFunc(out, func(a, b Reason) int { return strings.Compare(a.Component, b.Component) })
	return out
}

// Summary returns one line about the readiness, such as systemd shows it.
func (h *Health) Summary() string {
	reasons := h.NotReady()
	if len(reasons) == 0 {
		return "ready"
	}
	var parts []string
	for _, r := range reasons {
		parts = append(parts, r.Component+": "+r.Reason)
	}
	return "not ready: " + strings.Join(parts, "; ")
}

// Publish sets the figures of platforms and model hosts.
func (h *Health) Publish(c observe.Counters) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.parts {
		up := 0.0
		if h.check(p) == nil {
			up = 1
		}
		switch p.kind {
		case model:
			c.Set(observe.ModelUp, up, p.name)
		case platform:
			c.Set(observe.PlatformReady, up, p.name)
			if !p.last.IsZero() {
				c.Set(observe.PlatformLast, float64(p.last.UnixMilli())/1000, p.name)
			}
		}
	}
}

// check returns why p isn't ready. The caller holds the lock.
func (h *Health) check(p *part) error {
	switch age := h.now().Sub(p.last); {
	case p.reason != "" && !p.ready:
		return errors.New(p.reason)
	case p.last.IsZero():
		return errors.New("no round trip yet")
	case !p.ready:
		return errors.New("not ready")
	case p.maxAge > 0 && age > p.maxAge:
		return fmt.Errorf("no round trip for %s", age.Round(time.Second))
	}
	return nil
}

// part returns the component with this name. The caller holds the lock.
func (h *Health) part(name string) *part {
	for _, p := range h.parts {
		if p.name == name {
			return p
		}
	}
	p := &part{name: name, since: h.now()}
	h.parts = append(h.parts, p)
	return p
}
