package play

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// uttered is something that people see of the bot.
type uttered struct {
	a    session.Address
	mark string // as in a play's line
	text string
	to   string // the message it replies to
	why  string // the reasoning that is shown with it
	at   time.Time
}

// thoughts is the reasoning as a play's line has it.
func (u uttered) thoughts() string {
	if u.why == "" {
		return ""
	}
	return strconv.Quote(u.why)
}

// heap keeps what was uttered until the play has come to it.
type heap struct {
	mu   sync.Mutex
	all  []uttered
	came chan struct{}
}

func newHeap() *heap { return &heap{came: make(chan struct{}, 1)} }

func (h *heap) add(u uttered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u.at = time.Now()
	h.all = append(h.all, u)
	select {
	case h.came <- struct{}{}:
	default:
	}
}

func (h *heap) take() (uttered, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == 0 {
		return uttered{}, false
	}
	u := h.all[0]
	h.all = h.all[1:]
	return u, true
}

// next waits for the next utterance, for no longer than d.
func (h *heap) next(d time.Duration) (uttered, bool) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		if u, ok := h.take(); ok {
			return u, true
		}
		select {
		case <-h.came:
		case <-end.C:
			return uttered{}, false
		}
	}
}

// lateText is conduittest.Text with the line that a late answer opens with, and the names of files.
type lateText struct{ conduittest.Text }

// Part implements conduit.Renderer.
func (r lateText) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	if it.File != "" {
		return conduit.Part{Offset: offset, Next: len(it.Source), Text: it.File, Body: "[" + it.File + "] " + it.Source}, nil
	}
	p, err := r.Text.Part(it, offset, how)
	if late := conduit.Late(it); late != "" && offset == 0 && p.Body != nil {
		p.Text = late + "\n" + p.Text
		p.Body = p.Text
	}
	return p, err
}

// finder is what a platform with a look-up is, on which messages can be changed.
type finder interface {
	conduit.Poster
	conduit.Finder
	conduit.Reviser
}

var errDead = errors.New("play: the process is dead")

// mouth posts for one life: a dead one says nothing.
type mouth struct {
	st *stage
	l  *life
	finder
}

// Post implements conduit.Poster.
func (m mouth) Post(ctx context.Context, a session.Address, it conduit.Item, p conduit.Part) ([]string, error) {
	if m.l.store.isDead() {
		return nil, errDead
	}
	ids, err := m.finder.Post(ctx, a, it, p)
	if m.l.store.isDead() { // it died while it posted
		return nil, errDead
	}
	return ids, err
}

// Find implements conduit.Finder.
func (m mouth) Find(ctx context.Context, a session.Address, it conduit.Item, offset int) ([]string, bool, error) {
	if m.l.store.isDead() {
		return nil, false, errDead
	}
	return m.finder.Find(ctx, a, it, offset)
}

// Change implements conduit.Reviser.
func (m mouth) Change(ctx context.Context, a session.Address, message string, it conduit.Item, p conduit.Part) error {
	if m.l.store.isDead() {
		return errDead
	}
	return m.finder.Change(ctx, a, message, it, p)
}

// Remove implements conduit.Reviser.
func (m mouth) Remove(ctx context.Context, a session.Address, message string) error {
	if m.l.store.isDead() {
		return errDead
	}
	return m.finder.Remove(ctx, a, message)
}

// shown puts what a place has just been shown on the heap.
func (st *stage) shown(a session.Address) error {
	all := st.chat.At(a)
	m := all[len(all)-1]
	mark := "<"
	switch {
	case m.Item.Kind == conduit.Notice && m.Item.Private:
		mark = "?"
	case m.Item.Kind == conduit.Notice:
		mark = "!"
	}
	st.heap.add(uttered{a: a, mark: mark, text: m.Text, to: m.Item.ReplyTo, why: m.Item.Reasoning})
	st.afterPost()
	return nil
}

// gestures is the Presenter of one life.
type gestures struct {
	st *stage
	l  *life
}

// Show implements session.Presenter. That the model thinks goes without saying; a tool that isn't there is over before it shows.
func (g gestures) Show(_ context.Context, a session.Address, s session.Sign, _ *session.Presence) (*session.Presence, error) {
	if s.Activity != session.ActivityThinking && (s.Activity != session.ActivityTool || s.Detail == "dice") {
		text := string(s.Activity)
		if s.Detail != "" {
			text += " " + s.Detail
		}
		g.sign(a, text)
	}
	return nil, nil
}

// Clear implements session.Presenter.
func (g gestures) Clear(context.Context, session.Address, session.Presence) error { return nil }

// Noted implements session.Presenter.
func (g gestures) Noted(_ context.Context, a session.Address, message string) error {
	g.sign(a, "noted "+g.st.cast.called(message))
	return nil
}

func (g gestures) sign(a session.Address, text string) {
	if !g.l.store.isDead() {
		g.st.heap.add(uttered{a: a, mark: "~", text: text})
	}
}
