package conduittest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/session"
)

// Message is what a person sees on a Platform.
type Message struct {
	ID      string
	Address session.Address
	Item    conduit.Item
	Turn    ledger.TurnID
	Offset  int
	Text    string
	At      time.Time
	Gone    bool // it was removed
}

// Trouble is what befalls one post. The zero Trouble lets it through.
type Trouble struct {
	Err   error         // the answer
	Shown bool          // the message is shown all the same
	Late  time.Duration // …this long after the answer
	Hang  time.Duration // how long the answer takes; the caller's ctx cuts it short
}

// Platform is a chat platform in memory. It is a conduit.Poster and a conduit.Reviser; Finding makes it a conduit.Finder too. The zero Platform is ready.
type Platform struct {
	// Before and After, where set, are called around each message that is shown. An error stands for a process that died there: it
	// is returned, and that of Before shows nothing.
	Before, After func(session.Address) error
	// Chance, where set, decides about posts that no trouble is scripted for, and FindChance about look-ups.
	Chance     func(session.Address) Trouble
	FindChance func(session.Address) error
	// Revise, where set, decides about changes and removals of messages.
	Revise func(m Message, remove bool) error

	mu    sync.Mutex
	shown []Message
	next  map[session.Address][]Trouble
	finds map[session.Address][]error
	tries int
	late  sync.WaitGroup
}

// Next scripts the coming posts to a.
func (p *Platform) Next(a session.Address, ts ...Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = map[session.Address][]Trouble{}
	}
	p.next[a] = append(p.next[a], ts...)
}

// NextFind scripts the coming look-ups at a; nil lets one through.
func (p *Platform) NextFind(a session.Address, errs ...error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finds == nil {
		p.finds = map[session.Address][]error{}
	}
	p.finds[a] = append(p.finds[a], errs...)
}

// Post shows the part, or does what the trouble at hand says.
func (p *Platform) Post(ctx context.Context, a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	t := p.trouble(a)
	if err := wait(ctx, t.Hang); err != nil {
		return nil, fmt.Errorf("platform: post to %s: %w", a, err)
	}
	switch {
	case t.Err == nil:
		return p.show(a, it, part)
	case t.Shown && t.Late > 0:
		p.late.Go(func() {
			time.Sleep(t.Late)
			_, _ = p.show(a, it, part)
		})
	case t.Shown:
		_, _ = p.show(a, it, part)
	}
	return nil, t.Err
}

func (p *Platform) trouble(a session.Address) Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	if q := p.next[a]; len(q) > 0 {
		p.next[a] = q[1:]
		return q[0]
	}
	if p.Chance != nil {
		return p.Chance(a)
	}
	return Trouble{}
}

func (p *Platform) show(a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	if p.Before != nil {
		if err := p.Before(a); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	m := Message{ID: "m" + strconv.Itoa(len(p.shown)+1), Address: a, Item: it, Turn: it.Turn, Offset: part.Offset}
	m.Text, m.At = part.Body.(string), time.Now()
	p.shown = append(p.shown, m)
	p.mu.Unlock()
	if p.After != nil {
		if err := p.After(a); err != nil {
			return nil, err
		}
	}
	return []string{m.ID}, nil
}

// Finding returns the platform with a look-up.
func (p *Platform) Finding() conduit.Poster { return finding{p} }

type finding struct{ *Platform }

// Find tells which message shows the part of the turn that begins at offset.
func (f finding) Find(_ context.Context, a session.Address, it conduit.Item, offset int) ([]string, bool, error) {
	if err := f.findTrouble(a); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.shown, func(m Message) bool {
		return m.Address == a && m.Turn == it.Turn && m.Offset == offset
	})
	if i < 0 {
		return nil, false, nil
	}
	return []string{f.shown[i].ID}, true, nil
}

func (p *Platform) findTrouble(a session.Address) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.finds[a]; len(q) > 0 {
		p.finds[a] = q[1:]
		return q[0]
	}
	if p.FindChance != nil {
		return p.FindChance(a)
	}
	return nil
}

// Change implements conduit.Reviser.
func (p *Platform) Change(_ context.Context, a session.Address, message string, it conduit.Item, part conduit.Part) error {
	return p.revise(a, message, false, func(m *Message) error {
		if m == nil {
			return Refusal(conduit.Malformed).Err
		}
		m.Item, m.Text = it, part.Body.(string)
		return nil
	})
}

// Remove implements conduit.Reviser.
func (p *Platform) Remove(_ context.Context, a session.Address, message string) error {
	return p.revise(a, message, true, func(m *Message) error {
		if m != nil {
			m.Gone = true
		}
		return nil
	})
}

// revise does something to a message that is there, or to nil.
func (p *Platform) revise(a session.Address, message string, remove bool, do func(*Message) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.shown, func(m Message) bool { return m.Address == a && m.ID == message && !m.Gone })
	if i < 0 {
		return do(nil)
	}
	if p.Revise != nil {
		if err := p.Revise(p.shown[i], remove); err != nil {
			return err
		}
	}
	return do(&p.shown[i])
}

// At returns what a person sees at an address, in order.
func (p *Platform) At(a session.Address) []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.shown), func(m Message) bool { return m.Address != a || m.Gone })
}

// Texts returns the texts that a person sees at an address, in order.
func (p *Platform) Texts(a session.Address) []string {
	var out []string
	for _, m := range p.At(a) {
		out = append(out, m.Text)
	}
	return out
}

// Tries returns how many posts were tried so far.
func (p *Platform) Tries() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tries
}

// Wait returns when every message that was to be shown late is shown.
func (p *Platform) Wait() { p.late.Wait() }

// Refusal is an answer of the given class.
func Refusal(class conduit.Class) Trouble {
	return Trouble{Err: &conduit.Error{Class: class, Err: errors.New("platform: refused")}}
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
