package ollama

import (
	"context"
	"errors"
	"time"
)

var (
	errNoFirstToken = errors.New("no first token in time")
	errSilent       = errors.New("silent in the middle of an answer")
)

// watchdog ends a call that waits too long for its server. It only watches while armed, so that the time a consumer takes
// isn't held against the server.
type watchdog struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cause  error // what timer cancels with
}

func newWatchdog(cancel context.CancelCauseFunc) *watchdog { return &watchdog{cancel: cancel} }

// arm starts the time; after d the call ends with the given cause. Zero is for ever.
func (w *watchdog) arm(d time.Duration, cause error) {
	w.stop()
	switch {
	case d <= 0:
	case w.timer != nil && w.cause == cause: // between any two lines: no new timer each time
		w.timer.Reset(d)
	default:
		w.cause = cause
		w.timer = time.AfterFunc(d, func() { w.cancel(cause) })
	}
}

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
