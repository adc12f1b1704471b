package session

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// inHand is a turn that is with the model: whose it is, where, and how to end it.
type inHand struct {
	author, place string
	ids           []EntryID
	cancel        context.CancelCauseFunc
}

// underWay lists a turn as being with the model until the returned function is called. One of somebody whose access was taken back
// before it was listed ends at once.
func (m *Manager) underWay(j *job, cancel context.CancelCauseFunc) func() {
	in := j.first().Inbound
	m.mu.Lock()
	m.turnsOf[j] = inHand{in.Author.ID, in.Place, idsOf(j.entries), cancel}
	m.mu.Unlock()
	if m.cfg.Platforms[j.addr.Conduit()].Policy.Revoked(in.Author.ID, in.Place) {
		cancel(errDismissed)
	}
	if m.isDropped(j.entries...) {
		cancel(errDropped)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.turnsOf, j)
	}
}

// Dismiss ends the turns under way of a person, or at a place, whose access has been taken back; each gets a line. What waits is
// refused when its turn comes, which is next.
func (m *Manager) Dismiss(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.turnsOf {
		if h.author == id || h.place == id {
			h.cancel(errDismissed)
		}
	}
}

// overrun says once an hour that strangers get no codes, because there are too many.
type overrun struct {
	mu   sync.Mutex
	said time.Time
}

func (o *overrun) say(log *slog.Logger, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.said) >= time.Hour {
		o.said = now
		log.Warn("strangers get no codes: too many have one", "limit", maxStrangers)
	}
}
