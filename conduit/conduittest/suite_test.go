package conduittest_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// TestPlatform runs the suite against the platform in memory, with and without its look-up.
func TestPlatform(t *testing.T) {
	t.Run("finds", func(t *testing.T) { conduittest.Run(t, rig(true)) })
	t.Run("blind", func(t *testing.T) { conduittest.Run(t, rig(false)) })
}

const moved = session.Address("mem:moved")

func rig(finds bool) conduittest.Factory {
	return func(_ *testing.T, _ *slog.Logger) *conduittest.Rig {
		p := &conduittest.Platform{}
		r := &conduittest.Rig{
			Name: "mem", Places: []session.Address{"mem:a", "mem:b"}, Moved: moved,
			Renderer: conduittest.Text{Limit: 700, Words: true}, Poster: p, Long: 2100,
			Fault:   func(a session.Address, f conduittest.Fault) bool { return script(p, a, f) },
			Shown:   p.Texts,
			Secrets: []string{"xoxb-secret"},
			Close:   p.Wait,
		}
		if finds {
			r.Poster = p.Finding()
		}
		return r
	}
}

// script makes the platform in memory meet a fault.
func script(p *conduittest.Platform, a session.Address, f conduittest.Fault) bool {
	e := &conduit.Error{Err: errors.New("platform: refused")}
	t := conduittest.Trouble{Err: e}
	switch f {
	case conduittest.FaultRetry:
		e.Class = conduit.Retry
	case conduittest.FaultRetryAfter:
		e.Class, e.After = conduit.RetryAfter, 2*time.Second
	case conduittest.FaultMalformed:
		e.Class = conduit.Malformed
	case conduittest.FaultTooBig:
		e.Class = conduit.TooBig
	case conduittest.FaultGone:
		e.Class = conduit.Gone
	case conduittest.FaultMoved:
		e.Class, e.To = conduit.Moved, moved
	case conduittest.FaultDead:
		e.Class = conduit.Dead
	case conduittest.FaultCut, conduittest.FaultGarbage:
		t.Shown = true
	case conduittest.FaultLate:
		t.Shown, t.Late = true, 2*time.Second
	case conduittest.FaultHang:
		t.Hang = 30 * time.Second
	}
	p.Next(a, t)
	return true
}
