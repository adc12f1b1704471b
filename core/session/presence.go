package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"orebot/core/observe"
)

const (
	signTime   = 10 * time.Second // a call of a Presenter is given up after it
	signGrace  = 3 * time.Second  // how long signs may still be cleared when everything else has stopped
	clearTries = 3                // then it is left to the next start
	signPage   = 200
)

// signs are the pumps of the addresses at which something is shown.
type signs struct {
	m     *Manager
	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu    sync.Mutex
	pumps map[Address]*pump
}

func newSigns(m *Manager) *signs {
	ctx, end := context.WithCancel(context.Background())
	return &signs{m: m, ctx: ctx, end: end, pumps: map[Address]*pump{}}
}

// pump shows at one address what is being done there: one call of the Presenter at a time, on a goroutine that lives while something
// is shown, and that nobody waits for. What is wanted next replaces what was wanted before.
type pump struct {
	of   *signs
	a    Address
	p    Platform
	bell chan struct{}

	// Guarded by signs.mu.
	want  *Sign // nil: nothing
	noted []string
	cut   context.CancelFunc // of the call under way, once its sign isn't wanted any more

	// The goroutine's.
	loaded bool
	shown  *Presence
	rev    Revision
	tries  int
}

// at changes what the pump of an address is to do; one is made where none is. Without a Presenter there is nothing to do.
func (s *signs) at(a Address, change func(*pump)) {
	plat := s.m.cfg.Platforms[a.Conduit()]
	if plat.Presenter == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pumps[a]
	if p == nil {
		if s.ctx.Err() != nil {
			return
		}
		p = &pump{of: s, a: a, p: plat, bell: make(chan struct{}, 1)}
		s.pumps[a] = p
		s.tasks.Go(p.run)
	}
	change(p)
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// show makes a sign the one that is shown at an address.
func (s *signs) show(a Address, sign Sign) {
	s.at(a, func(p *pump) { p.want = &sign })
}

// change changes the activity of the sign that is shown, if one is.
func (s *signs) change(a Address, act Activity, detail string) {
	s.mu.Lock()
	p := s.pumps[a]
	wanted := p != nil && p.want != nil
	s.mu.Unlock()
	if !wanted {
		return
	}
	s.at(a, func(p *pump) {
		if p.want != nil {
			sign := *p.want
			sign.Activity, sign.Detail = act, detail
			p.want = &sign
		}
	})
}

// waits reports whether what is shown at an address says what is waited for: a place in line, or the model.
func (s *signs) waits(a Address) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pumps[a]
	return p != nil && p.want != nil && (p.want.Activity == ActivityQueued || p.want.Activity == ActivityLoading)
}

// clear ends what is shown at an address, also what an earlier life of the process showed.
func (s *signs) clear(a Address) {
	s.at(a, func(p *pump) {
		p.want = nil
		if p.cut != nil {
			p.cut()
		}
	})
}

// note shows that the edit of an answered message was taken down.
func (s *signs) note(a Address, message string) {
	s.at(a, func(p *pump) { p.noted = append(p.noted, message) })
}

// sweep clears what earlier lives of the process have left.
func (s *signs) sweep(ctx context.Context) {
	for name, plat := range s.m.cfg.Platforms {
		if plat.Presenter == nil {
			continue
		}
		for after := Address(""); ctx.Err() == nil; {
			page, err := s.m.cfg.Store.Presences(ctx, name, after, signPage)
			if err != nil {
				s.m.cfg.Logger.Warn("old signs stay", observe.KeyPlatform, name, observe.KeyError, err)
				break
			}
			for _, a := range page {
				s.at(a, func(*pump) {}) // one that is wanted meanwhile takes its place
			}
			if len(page) < signPage {
				break
			}
			after = page[len(page)-1]
		}
	}
}

// drain waits until nothing is shown any more, for no longer than the grace.
func (s *signs) drain() {
	t := time.AfterFunc(signGrace, s.end)
	s.tasks.Wait()
	t.Stop()
	s.end()
}

// run does what is wanted until nothing is, and nothing is shown.
func (p *pump) run() {
	var last *Sign
	var at time.Time
	for {
		want, note, over := p.next()
		switch {
		case over:
			return
		case note != "":
			_ = p.call(func(ctx context.Context) error { return p.p.Presenter.Noted(ctx, p.a, note) })
			continue
		case want == nil:
			if p.clear(); p.shown != nil && p.tries < clearTries {
				p.pause(time.Duration(p.tries) * time.Second)
			}
			last = nil
			continue
		case last == nil || *want != *last || p.p.Beat > 0 && time.Since(at) >= p.p.Beat:
			p.show(*want)
			last, at = want, time.Now()
		}
		p.pause(p.p.Beat - time.Since(at))
	}
}

// next returns what is to be done now. over: nothing is wanted and nothing shown, or nothing can be done about it; the pump is gone
// then.
func (p *pump) next() (want *Sign, note string, over bool) {
	p.load()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	switch {
	case len(p.noted) > 0:
		note, p.noted = p.noted[0], p.noted[1:]
	case p.of.ctx.Err() != nil, p.want == nil && (p.shown == nil || p.tries >= clearTries):
		delete(p.of.pumps, p.a)
		return nil, "", true
	}
	return p.want, note, false
}

// pause waits for something new, for no longer than d; 0 or less: for as long as it takes.
func (p *pump) pause(d time.Duration) {
	var beat <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		beat = t.C
	} else if p.p.Beat > 0 {
		return
	}
	select {
	case <-p.bell:
	case <-beat:
	case <-p.of.ctx.Done():
	}
}

// load learns once what is stored: an earlier life may have left a sign.
func (p *pump) load() {
	if p.loaded {
		return
	}
	st, err := p.of.m.cfg.Store.Address(p.of.ctx, p.a)
	if err != nil {
		return
	}
	p.loaded, p.rev, p.shown = true, st.PresenceRev, nil
	if st.PresenceRev != (Revision{}) {
		p.shown = &st.Presence
	}
}

// call makes one call of the Presenter; a sign that isn't wanted any more cuts it short. A panic in it is a sign that fails.
func (p *pump) call(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(p.of.ctx, signTime)
	defer cancel()
	err := guarded(func() error { return f(ctx) })
	if err != nil && ctx.Err() == nil {
		p.of.m.cfg.Logger.Debug("sign fails", observe.KeyAddress, string(p.a), observe.KeyError, err)
	}
	return err
}

func (p *pump) show(sign Sign) {
	_ = p.call(func(ctx context.Context) error {
		ctx, cut := context.WithCancel(ctx)
		defer cut()
		if !p.arm(cut) {
			return nil
		}
		defer p.arm(nil)
		var shown *Presence
		if p.shown != nil {
			was := *p.shown
			shown = &was
		}
		left, err := p.p.Presenter.Show(context.WithValue(ctx, foreseeKey{}, p.keep), p.a, sign, shown)
		return errors.Join(err, p.keep(left))
	})
}

// arm lets a call be cut short; it reports whether its sign is still wanted.
func (p *pump) arm(cut context.CancelFunc) bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.cut = cut
	return p.want != nil
}

func (p *pump) clear() {
	shown := p.shown
	if shown == nil {
		return
	}
	err := p.call(func(ctx context.Context) error { return p.p.Presenter.Clear(ctx, p.a, *shown) })
	if err != nil {
		p.tries++
		return
	}
	_ = p.keep(nil) // a sign that is cleared again at the next start is no harm
	p.tries = 0
}
