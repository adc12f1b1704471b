package slack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// perMinute returns the most opens in any minute that begins a minute or later after the first one.
func perMinute(calls []time.Time) (most int) {
	for i, from := range calls {
		if from.Sub(calls[0]) < time.Minute {
			continue
		}
		n := 0
		for _, at := range calls[i:] {
			if at.Sub(from) < time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestStorms: whatever ends the connections, no more than twelve are opened a minute, and when it is over everything works.
// Facts A1.7, A1.8, A6.5, B.2, B.19, O.12.
func TestStorms(t *testing.T) {
	for _, reason := range []string{simslack.Warning, simslack.RefreshRequested, simslack.LinkDisabled, simslack.TooManyWebsockets, "cut"} {
		t.Run(reason, func(t *testing.T) {
			inLink(t, simslack.Options{Seed: 1}, nil, func(t *testing.T, l *link) {
				storm, over := context.WithTimeout(t.Context(), 10*time.Minute)
				for storm.Err() == nil && l.WaitConnected(storm) == nil {
					time.Sleep(time.Millisecond)
					if reason == "cut" {
						l.Cut()
					} else {
						l.Disconnect(reason)
					}
					time.Sleep(20 * time.Millisecond)
				}
				over()
				calls := l.Calls("apps.connections.open")
				if n := perMinute(calls); n > 12 || n < 2 {
					t.Errorf("%d opens a minute", n)
				}
				if first := len(calls) - countAfter(calls, time.Minute); first > 12 {
					t.Errorf("%d opens in the first minute", first)
				}
				want := "Slack ends every connection at once"
				if why := causes(reason); why != "" {
					want = why
				}
				if n := l.logs.count(want); n != 1 && reason != simslack.Warning || l.logs.count("Slack ends connections") > 1 {
					t.Errorf("%d warnings:\n%s", n, l.logs)
				}
				if _, now, _ := l.health.state(); !strings.Contains(l.health.String(), want) {
					t.Errorf("health never said %q; it says %q", want, now)
				}
				time.Sleep(time.Minute)
				l.takes()
			})
		})
	}
}

func countAfter(calls []time.Time, d time.Duration) (n int) {
	for _, c := range calls {
		if c.Sub(calls[0]) >= d {
			n++
		}
	}
	return n
}

// TestOpenFails: whatever opening a connection meets (O12), it is tried again at a bounded rate, and the first success ends it.
// Facts A1.2, O.12.
func TestOpenFails(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"hang": {Hang: true}, "500": {Status: 500, Body: "oops"}, "404": {Status: 404, Body: "<html>"}, "reset": {Reset: true},
		"no url": {Status: 200, Body: `{"ok":true}`}, "html": {Status: 200, Body: "<html>proxy</html>"}, "503": {Status: 503},
		"429":        {Status: 429, Retry: 20 * time.Second},
		"429 alone":  {Status: 429},
		"internal":   {Status: 200, Body: `{"ok":false,"error":"internal_error"}`},
		"secret url": {Status: 200, Body: `{"ok":true,"url":"ws://%zz/?ticket=sim-9"}`},
	} {
		t.Run(name, func(t *testing.T) {
			const tries = 30
			storm := func(sim *simslack.Server) {
				for range tries {
					sim.Faults.Next("apps.connections.open", f)
				}
			}
			inLink(t, simslack.Options{}, storm, func(t *testing.T, l *link) {
				time.Sleep(30 * time.Second)
				if ready, reason, _ := l.health.state(); ready || !strings.HasPrefix(reason, "no connection to Slack") && name != "hang" {
					t.Errorf("ready %v, %q", ready, reason)
				}
				time.Sleep(20 * time.Minute)
				calls := l.Calls("apps.connections.open")
				if n := perMinute(calls); n > 12 {
					t.Errorf("%d opens a minute", n)
				}
				if len(calls) != tries+1 {
					t.Errorf("%d opens", len(calls))
				}
				if n := l.logs.count("Slack ends connections"); n != 0 {
					t.Errorf("%d warnings of what isn't so", n)
				}
				if n := l.logs.count("no connection to Slack"); n != 1 {
					t.Errorf("%d warnings:\n%s", n, l.logs)
				}
				l.takes()
			})
		})
	}
}

// TestDeadAtOpen: what the client library repeats forever, or ends in silence, ends the conduit. Facts A1.2, B.3, O.12.
func TestDeadAtOpen(t *testing.T) {
	for _, code := range []string{
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type", "missing_scope",
		"forbidden_team",
	} {
		t.Run(code, func(t *testing.T) {
			refuse := func(sim *simslack.Server) {
				sim.Faults.Next("apps.connections.open", fault.Fault{Status: 200, Body: fmt.Sprintf(`{"ok":false,"error":%q}`, code)})
			}
			inLink(t, simslack.Options{}, refuse, func(_ *testing.T, l *link) { l.dies(code) })
		})
	}
}

// TestDeadAtStart: facts A1.2, A7.1.
func TestDeadAtStart(t *testing.T) {
	for _, code := range []string{"invalid_auth", "account_inactive", "token_revoked"} {
		t.Run(code, func(t *testing.T) {
			refuse := func(sim *simslack.Server) {
				sim.Faults.Next("auth.test", fault.Fault{Status: 500}, fault.Fault{Status: 200, Body: fmt.Sprintf(`{"ok":false,"error":%q}`, code)})
			}
			inLink(t, simslack.Options{}, refuse, func(t *testing.T, l *link) {
				l.dies(code)
				if n := len(l.Calls("apps.connections.open")); n != 0 {
					t.Errorf("%d connections", n)
				}
			})
		})
	}
}

// TestStartWaits: Slack that doesn't answer is asked again until it does. Fact B.4.
func TestStartWaits(t *testing.T) {
	trouble := func(sim *simslack.Server) {
		sim.Faults.Next("auth.test", fault.Fault{Status: 500}, fault.Fault{Reset: true}, fault.Fault{Status: 429, Retry: 40 * time.Second},
			fault.Fault{Status: 200, Body: "<html>"}, fault.Fault{Hang: true}, fault.Fault{Status: 200, Body: `{"ok":true}`})
	}
	inLink(t, simslack.Options{}, trouble, func(t *testing.T, l *link) {
		time.Sleep(4 * time.Minute)
		l.takes()
		if calls := l.Calls("auth.test"); calls[3].Sub(calls[2]) < 40*time.Second {
			t.Errorf("asked again %v after being told to wait", calls[3].Sub(calls[2]))
		}
		if n := l.logs.count("Slack doesn't answer"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

// TestEndWhileWaiting: the end comes within a second wherever the conduit is. Facts B.17, B.19.
func TestEndWhileWaiting(t *testing.T) {
	for name, f := range map[string]struct {
		method string
		f      fault.Fault
	}{
		"asking": {"auth.test", fault.Fault{Hang: true}}, "between tries": {"auth.test", fault.Fault{Status: 500}},
		"opening": {"apps.connections.open", fault.Fault{Hang: true}}, "dialling": {"link", fault.Fault{Hang: true}},
	} {
		t.Run(name, func(t *testing.T) {
			meet := func(sim *simslack.Server) { sim.Faults.Next(f.method, f.f, f.f, f.f, f.f) }
			inLink(t, simslack.Options{}, meet, func(*testing.T, *link) { time.Sleep(3 * time.Second) })
		})
	}
}
