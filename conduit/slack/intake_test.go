package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// holding is a session whose disk stands still until it is let go.
type holding struct {
	mu   sync.Mutex
	free bool
	got  []string
	done []func(session.Receipt)
}

func (h *holding) Accept(_ context.Context, in session.Inbound, done func(session.Receipt)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, in.Message)
	if h.free {
		done(session.Receipt{})
		return
	}
	h.done = append(h.done, done)
}

func (*holding) Listen([]string, func(session.Address, loop.OutputEvent)) func() { return func() {} }

func (h *holding) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = true
	for _, f := range h.done {
		f(session.Receipt{})
	}
	h.done = nil
}

func (h *holding) messages() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.got...)
}

// link is a conduit alone: its session is in the test's hands.
type link struct {
	*simslack.Server
	t      *testing.T
	sess   *holding
	logs   *logBook
	health *healthBook
	counts *countBook
	done   chan error
	stop   context.CancelFunc
}

// inLink runs f with a conduit that runs, before it is connected.
func inLink(t *testing.T, o simslack.Options, before func(*simslack.Server), f func(t *testing.T, l *link)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, api, end := dialSim(o)
		t.Cleanup(end)
		mem := storetest.NewMemory()
		l := &link{Server: sim, t: t, sess: &holding{free: true}, logs: &logBook{}, health: &healthBook{}, counts: &countBook{}}
		if before != nil {
			before(sim)
		}
		s, err := New(Config{
			API: api, Sessions: l.sess, Store: mem, Lease: mem, Life: "1", Health: l.health, Counters: l.counts,
			Logger: slog.New(slog.NewTextHandler(l.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		if err != nil {
			t.Fatal(err)
		}
		var ctx context.Context
		ctx, l.stop = context.WithCancel(context.Background())
		l.done = make(chan error, 1)
		go func() { l.done <- s.Run(ctx) }()
		f(t, l)
		l.stop()
		begin := time.Now()
		if err := <-l.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(begin); d > time.Second {
			t.Errorf("the end took %v", d)
		}
		r := rig{t: t, mem: mem, logs: l.logs, health: l.health}
		r.close()
	})
}

// dies waits for the conduit's end of its own accord, and checks that it is one of refused credentials, told once.
func (l *link) dies(code string) {
	l.t.Helper()
	time.Sleep(time.Minute)
	err := <-l.done
	var e *conduit.Error
	if !errors.As(err, &e) || e.Class != conduit.Dead || !strings.Contains(err.Error(), code) {
		l.t.Errorf("Run returned %v", err)
	}
	if n := l.logs.count(observe.MsgCredentialsRefused); n != 1 {
		l.t.Errorf("%d log lines:\n%s", n, l.logs)
	}
	if ready, reason, _ := l.health.state(); ready || !strings.Contains(reason, code) {
		l.t.Errorf("health %v, %q", ready, reason)
	}
	l.done <- nil // for inLink
}

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
				if n := l.logs.count("Slack ends connections at once"); n != 1 && reason != simslack.Warning {
					t.Errorf("%d warnings", n)
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

// takes checks that a message gets through, and that the conduit says that it works.
func (l *link) takes() {
	l.t.Helper()
	u := l.AddUser("zoe")
	ts := l.Say(u, l.OpenDM(u), "hello")
	time.Sleep(time.Second)
	if got := l.sess.messages(); len(got) == 0 || got[len(got)-1] != ts {
		l.t.Errorf("the message didn't get through: %q", got)
	}
	if ready, reason, _ := l.health.state(); !ready {
		l.t.Errorf("not ready: %s", reason)
	}
}

// TestOpenFails: whatever opening a connection meets (O12), it is tried again at a bounded rate, and the first success ends it.
func TestOpenFails(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"hang": {Hang: true}, "500": {Status: 500, Body: "oops"}, "404": {Status: 404, Body: "<html>"}, "reset": {Reset: true},
		"no url": {Status: 200, Body: `{"ok":true}`}, "html": {Status: 200, Body: "<html>proxy</html>"}, "503": {Status: 503},
		"429":        {Status: 429, Retry: 20 * time.Second},
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
				if ready, reason, _ := l.health.state(); ready || reason == "" {
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
				if n := l.logs.count("no connection to Slack"); n != 1 {
					t.Errorf("%d warnings:\n%s", n, l.logs)
				}
				l.takes()
			})
		})
	}
}

// TestDeadAtOpen: what the client library repeats forever, or ends in silence, ends the conduit.
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

// TestStartWaits: Slack that doesn't answer is asked again until it does.
func TestStartWaits(t *testing.T) {
	trouble := func(sim *simslack.Server) {
		sim.Faults.Next("auth.test", fault.Fault{Status: 500}, fault.Fault{Reset: true}, fault.Fault{Status: 429, Retry: 40 * time.Second},
			fault.Fault{Status: 200, Body: "<html>"}, fault.Fault{Hang: true}, fault.Fault{Status: 200, Body: `{"ok":true}`})
	}
	inLink(t, simslack.Options{}, trouble, func(t *testing.T, l *link) {
		time.Sleep(4 * time.Minute)
		l.takes()
		if n := l.logs.count("Slack doesn't answer"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

// TestEndWhileWaiting: the end comes within a second wherever the conduit is.
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

// TestFlood: more than the queues hold is dropped without an ack, the reader lives on (FS 52), and all of it is taken in the end.
func TestFlood(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		l.sess.free = false
		u := l.AddUser("ann")
		dm := l.OpenDM(u)
		time.Sleep(time.Second)
		const n = maxQueue + maxFlight + 100
		for range n {
			l.Say(u, dm, "hi")
		}
		time.Sleep(2 * time.Minute)
		if c := l.logs.count("more comes in than can be stored"); c == 0 {
			t.Error("no warning")
		}
		l.sess.release()
		time.Sleep(20 * time.Minute)
		seen := map[string]bool{}
		for _, ts := range l.sess.messages() {
			seen[ts] = true
		}
		if len(seen) != n {
			t.Errorf("%d of %d messages were taken", len(seen), n)
		}
		if st := l.Stats(); st.Lost != 0 {
			t.Errorf("%d lost", st.Lost)
		}
		if c := len(l.Calls("apps.connections.open")); c != 1 {
			t.Errorf("%d connections", c)
		}
	})
}

// TestSignsOfLife: pings count as signs of life; a connection without them is left within a minute (FS 51).
func TestSignsOfLife(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(10 * time.Minute)
		if _, _, last := l.health.state(); time.Since(last) > 11*time.Second {
			t.Errorf("the last beat is %v old", time.Since(last))
		}
		if n := len(l.ConnectionOpens()); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
	inLink(t, simslack.Options{PingInterval: -1}, nil, func(t *testing.T, l *link) {
		time.Sleep(10 * time.Minute)
		if n := len(l.ConnectionOpens()); n < 5 || n > 20 {
			t.Errorf("%d deaf connections in ten minutes", n)
		}
		if err := l.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.takes()
	})
}

// TestAnotherProcess is FS 54: two connections of one app share its events.
func TestAnotherProcess(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		for range 3 {
			if err := l.Push([]byte(`{"type":"hello","num_connections":2,"connection_info":{"app_id":"A1"}}`)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if n := l.logs.count("another process uses this app token"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

func TestMissingScopesAreNamed(t *testing.T) {
	inLink(t, simslack.Options{Scopes: []string{"chat:write", "im:history"}}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		if n := l.logs.count("app_mentions:read channels:history groups:history mpim:history users:read"); n != 1 {
			t.Errorf("the log says:\n%s", l.logs)
		}
	})
}
