package play

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// notebook has what has happened in an improvised play, and what was wrong about it.
type notebook struct {
	began time.Time

	mu      sync.Mutex
	acted   []string
	faults  []string
	visible map[session.Address]session.Presence // that people see now
	graved  map[string]bool                      // messages that were answered "Forgotten."
	journal map[session.Address][]post           // in order, as they were when they were posted
	refused map[session.Address]bool             // even the note in the place of a part
}

// post is what a place was shown.
type post struct {
	conduittest.Message
	act int
}

func newNotebook(began time.Time) *notebook {
	return &notebook{began: began, visible: map[session.Address]session.Presence{}, graved: map[string]bool{},
		journal: map[session.Address][]post{}, refused: map[session.Address]bool{}}
}

// note adds a line, with its time.
func (n *notebook) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acted = append(n.acted, fmt.Sprintf("@%v %s", time.Since(n.began).Round(time.Millisecond), fmt.Sprintf(format, args...)))
}

// fault says what is wrong.
func (n *notebook) fault(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, fmt.Sprintf(format, args...))
}

func (n *notebook) broken() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.faults) > 0
}

func (n *notebook) read() (faults, acted []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.faults), slices.Clone(n.acted)
}

// shownSigns are the signs that people see now.
func (n *notebook) shownSigns() map[session.Address]session.Presence {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.visible)
}

// posted notes what a place has just been shown. It is the platform's After.
func (im *improvised) posted(a session.Address) error {
	all := im.chat.At(a)
	m := all[len(all)-1]
	im.note("    bot@%s (%v %d.%d): %q", a, m.Item.Kind, m.Item.Seq, m.Offset, m.Text)
	if m.Item.Kind == conduit.Answer {
		im.past.put(a, session.Said{Own: true, Text: m.Text, Message: m.ID, Order: im.cast.now()})
	}
	if im.rack != nil && !im.rack.wasSilent() && strings.Contains(m.Text, "model server hasn't answered") {
		im.fault("a model host is up all the time, and %s is told: %q", a, m.Text)
	}
	im.mu.Lock()
	im.journal[a] = append(im.journal[a], post{m, im.acts})
	im.mu.Unlock()
	if m.Item.Kind == conduit.Notice && strings.HasSuffix(m.Text, "Forgotten.") {
		im.mu.Lock()
		im.graved[m.Item.ReplyTo] = true
		im.mu.Unlock()
	}
	return nil
}

// isForgotten reports whether a message was answered so.
func (n *notebook) isForgotten(message string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.graved[message]
}

// logger is a life's: an error in it is a fault, but for those that the play is the cause of.
func (im *improvised) logger(l *life) *slog.Logger {
	return slog.New(slog.NewTextHandler(logKeeper{im.notebook, l}, &slog.HandlerOptions{Level: slog.LevelError}))
}

type logKeeper struct {
	*notebook
	l *life
}

// drawnErrors are what a model that panics and fails and kills leave in the log, and posts that are refused: three times in a row, and
// nothing of a part can be shown there, not even the note in its place.
var drawnErrors = []string{"panic in a turn", "turn given up", "turn failed", "provider: ", "platform: refused (malformed)", "platform: refused (too big)"}

var addressMark = regexp.MustCompile(`address=(\S+)`)

// Write implements io.Writer.
func (k logKeeper) Write(p []byte) (int, error) {
	drawn := slices.ContainsFunc(drawnErrors, func(s string) bool { return strings.Contains(string(p), s) })
	if !drawn && !k.l.store.isDead() {
		k.fault("log: %s", p)
	}
	if a := addressMark.FindSubmatch(p); a != nil && strings.Contains(string(p), "note refused") {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.refused[session.Address(a[1])] = true
	}
	return len(p), nil
}

// signer is a life's Presenter: its signs stay until they are cleared.
func (im *improvised) signer(l *life) session.Presenter { return signKeeper{im.notebook, l} }

type signKeeper struct {
	*notebook
	l *life
}

// Show implements session.Presenter.
func (k signKeeper) Show(ctx context.Context, a session.Address, s session.Sign, shown *session.Presence) (*session.Presence, error) {
	if k.l.store.isDead() {
		return nil, errDead
	}
	p := session.Presence{Kind: "sign", Message: s.Message}
	if shown != nil && *shown != p {
		if err := k.Clear(ctx, a, *shown); err != nil {
			return shown, err
		}
	}
	if err := session.Foresee(ctx, p); err != nil {
		return shown, err
	}
	if k.l.store.isDead() {
		return nil, errDead
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.visible[a] = p
	return &p, nil
}

// Clear implements session.Presenter.
func (k signKeeper) Clear(_ context.Context, a session.Address, p session.Presence) error {
	if k.l.store.isDead() {
		return errDead
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if have, ok := k.visible[a]; ok && have == p {
		delete(k.visible, a)
	}
	return nil
}

// Noted implements session.Presenter.
func (k signKeeper) Noted(context.Context, session.Address, string) error { return nil }
