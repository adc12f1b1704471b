package slack

import (
	"context"
	"sync"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
)

const (
	missedCalm = 3 * time.Second         // how long a connection has to stand before it is asked what was missed
	missedPace = 1500 * time.Millisecond // between calls: Slack takes fifty a minute of each method
	missedTime = 20 * time.Minute        // for one round; what isn't looked at by then isn't
	missedMost = 50                      // messages of a thread
	missedSlop = time.Minute             // events may be that late

	missedAgain = time.Hour // before a start: what came in then may be newer than what is missing
)

// missed looks for what was said while nobody listened, since Socket Mode keeps nothing for a client that is away, and Slack sends again
// only for some minutes. It looks at start and after each gap in the connection: at the conversations that hold entries, and at every DM.
// What it finds goes to the session as if it had just come, under the same keys; so that what did come is a duplicate. It is slow on
// purpose, and no part of it stands in the way of what comes in.
type missed struct {
	s     *Slack
	wake  chan struct{}
	marks map[string]mark // at start, of each address

	mu    sync.Mutex
	since time.Time // a gap that is to be looked at began then; zero: none
	up    time.Time // the connection stands since; zero: there is none
}

func newMissed(s *Slack) *missed { return &missed{s: s, wake: make(chan struct{}, 1)} }

// begin notes, before anything can come in, how far each conversation is known: whatever is newer may have been missed.
func (m *missed) begin(ctx context.Context) {
	if m.s.cfg.CatchUp <= 0 {
		return
	}
	marks, err := m.known(ctx)
	if err != nil {
		m.s.log.Warn("catch-up: the state can't be read", observe.KeyError, err)
	}
	m.marks = map[string]mark{}
	for _, k := range marks {
		m.marks[string(k.address)] = k
	}
	m.lost(time.Now())
}

// lost notes that from now on something may be missed.
func (m *missed) lost(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up = time.Time{}
	if m.since.IsZero() || at.Before(m.since) {
		m.since = at
	}
}

// back notes that events come again.
func (m *missed) back() {
	m.mu.Lock()
	m.up = time.Now()
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// due takes the gap that can be looked at now: one that is over, and since when it has been for long enough; else it says how long to
// wait, zero for a connection.
func (m *missed) due() (since time.Time, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.up.IsZero() || m.since.IsZero() {
		return time.Time{}, 0
	}
	if wait = missedCalm - time.Since(m.up); wait > 0 {
		return time.Time{}, wait
	}
	since, m.since = m.since, time.Time{}
	return since, 0
}

// run looks after every gap, until ctx ends.
func (m *missed) run(ctx context.Context, me identity) {
	if m.s.cfg.CatchUp <= 0 {
		l := &look{s: m.s, me: me}
		_, _ = l.dms(ctx) // which DMs there are is worth knowing all the same
		return
	}
	for ctx.Err() == nil {
		since, wait := m.due()
		switch {
		case !since.IsZero():
			m.round(ctx, me, since)
			m.marks = nil
		case wait > 0:
			_ = conduit.Sleep(ctx, wait)
		default:
			select {
			case <-ctx.Done():
			case <-m.wake:
			}
		}
	}
}

// round is one look, within missedTime. What remains is told.
func (m *missed) round(ctx context.Context, me identity, since time.Time) {
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, missedTime)
	defer cancel()
	l := &look{s: m.s, me: me, since: since, marks: m.marks, floor: stampOf(begin.Add(-m.s.cfg.CatchUp))}
	left, err := l.all(limited)
	switch {
	case ctx.Err() != nil:
		return
	case left > 0 || err != nil && limited.Err() == nil:
		m.s.log.Warn("catch-up is incomplete", observe.KeyCount, left, observe.KeyError, err)
	}
	if l.found > 0 {
		m.s.log.Info("caught up", observe.KeyCount, l.found, observe.KeyTook, time.Since(begin))
	}
}
