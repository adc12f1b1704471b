package telegram

import (
	"time"

	"orebot/core/session"
)

// presses holds who last pressed which button, and when.
type presses map[pressed]lastPress

type pressed struct{ author, key, action string }

type lastPress struct {
	id string // of the press
	at time.Time
}

const (
	// pressGap is how soon behind a press of a button the same person's next one is the same touch: fingers bounce, and clients that
	// wait for an answer invite to touch again.
	pressGap = 3 * time.Second
	// maxPressed is how many buttons are remembered. A button that was forgotten counts once more.
	maxPressed = 1000
)

// once ignores a press that follows another one of its button right away. The same press again, which Telegram repeats until it is
// confirmed, is left to the store to tell.
func (p presses) once(ev event, now time.Time) event {
	in := ev.inbound
	if ev.ignored != "" || in.Signal != session.SignalButton {
		return ev
	}
	key := pressed{in.Author.ID, string(in.Address) + " " + in.TargetKey, in.Action}
	last, known := p[key]
	if known && last.id != ev.callback && now.Sub(last.at) < pressGap {
		return event{ignored: ignoredCallback, callback: ev.callback}
	}
	if len(p) >= maxPressed {
		clear(p)
	}
	p[key] = lastPress{ev.callback, now}
	return ev
}
