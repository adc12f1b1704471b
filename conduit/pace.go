package conduit

import (
	"context"
	"sync"

	"golang.org/x/time/rate"

	"orebot/core/session"
)

// Pacer keeps a platform's rate limits. Wait returns when a post to a may be made, or with ctx's error. A courier calls it once
// for each post, after its intent is durable, and never holds more than the one permission.
type Pacer interface {
	Wait(ctx context.Context, a session.Address) error
}

// unpaced lets everything through.
type unpaced struct{}

func (unpaced) Wait(ctx context.Context, _ session.Address) error { return ctx.Err() }

// Rate is a token bucket: Limit posts a second, up to Burst at once. The zero Rate doesn't limit.
type Rate struct {
	Limit rate.Limit
	Burst int
}

func (r Rate) limiter() *rate.Limiter {
	if r == (Rate{}) {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(r.Limit, max(1, r.Burst))
}

// Paces is a Pacer with one limit for the whole platform and one for each place.
type Paces struct {
	place func(session.Address) (string, Rate)
	all   *rate.Limiter

	mu      sync.Mutex
	keys    map[string]*paced
	waiting int // in all
	sweep   int // forget idle keys when there are this many
}

// paced is the limit of one key.
type paced struct {
	limit   *rate.Limiter
	waiting int
}

// minSweep is how many keys are kept without looking whether they are idle.
const minSweep = 64

// NewPacer returns a Pacer. place names what shares a limit (a channel, a chat) and the limit; a key's limit is fixed when it is
// first used. A key whose bucket has filled up again is forgotten.
func NewPacer(global Rate, place func(session.Address) (key string, r Rate)) *Paces {
	return &Paces{place: place, all: global.limiter(), keys: map[string]*paced{}, sweep: minSweep}
}

// Wait waits for the place's turn, then for the platform's, so that a place that waits for itself keeps nothing from others.
func (p *Paces) Wait(ctx context.Context, a session.Address) error {
	k := p.take(a)
	defer p.give(k)
	if err := k.limit.Wait(ctx); err != nil {
		return err
	}
	return p.all.Wait(ctx)
}

func (p *Paces) take(a session.Address) *paced {
	key, r := p.place(a)
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.keys[key]
	if !ok {
		p.forget()
		k = &paced{limit: r.limiter()}
		p.keys[key] = k
	}
	k.waiting++
	p.waiting++
	return k
}

func (p *Paces) give(k *paced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.waiting--
	p.waiting--
}

// Busy reports whether a post waits for its turn, or the next one at a would have to. Then nothing less than a post may be sent.
func (p *Paces) Busy(a session.Address) bool {
	key, _ := p.place(a)
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.keys[key]
	return p.waiting > 0 || empty(p.all) || k != nil && empty(k.limit)
}

// Take takes the permission for a post that nobody waits for, and reports whether there was one.
func (p *Paces) Take(a session.Address) bool {
	if p.Busy(a) {
		return false
	}
	k := p.take(a)
	defer p.give(k)
	return k.limit.Allow() && p.all.Allow()
}

func empty(l *rate.Limiter) bool { return l.Limit() != rate.Inf && l.Tokens() < 1 }

// forget drops idle keys once they have doubled in number since the last time.
func (p *Paces) forget() {
	if len(p.keys) < p.sweep {
		return
	}
	for key, k := range p.keys {
		if k.waiting == 0 && k.limit.Tokens() >= float64(k.limit.Burst()) {
			delete(p.keys, key)
		}
	}
	p.sweep = max(minSweep, 2*len(p.keys))
}
