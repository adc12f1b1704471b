package slack

import (
	"context"
	"errors"
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

func (h *holding) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = false
}

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
	quit   chan struct{}
}

// inLink runs f with a conduit that runs, before it is connected.
func inLink(t *testing.T, o simslack.Options, before func(*simslack.Server), f func(t *testing.T, l *link)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, api, end := dialSim(o)
		t.Cleanup(end)
		mem := storetest.NewMemory()
		l := &link{Server: sim, t: t, sess: &holding{free: true}, logs: &logBook{}, health: &healthBook{}, counts: &countBook{}}
		l.quit = make(chan struct{})
		if before != nil {
			before(sim)
		}
		s, err := New(Config{
			API: api, Sessions: l.sess, Store: mem, Lease: mem, Life: "1", Health: l.health, Counters: l.counts, Quit: l.quit,
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
	var err error
	select {
	case err = <-l.done:
	case <-time.After(time.Minute):
		l.t.Fatal("the conduit lives on")
	}
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
