package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/slash"
	"orebot/internal/secret"
	"orebot/internal/sim/pipe"
	sim "orebot/internal/sim/telegram"
)

// token is shaped like Telegram's own, so that nothing but redaction keeps it out of texts.
const token = "42:AAE-secretsecretsecretsecretsecret"

// bench is a Telegram, and lives of the bot that come and go on one store.
type bench struct {
	*sim.Server
	t               testing.TB
	dial            http.RoundTripper
	api             *API
	store           *storetest.Memory
	model           *scripted
	figs            figures
	health          health
	log             logBuffer
	paced           bool
	policy          access.Policy
	commands, signs bool                  // people can give commands; see what is being done
	sessions        func(*session.Config) // may alter what the session is given
	ada             sim.User
	chat            int64 // ada's
}

// inBubble runs f with a bench in a synctest bubble, and fails where the token is found in anything that was logged.
func inBubble(t *testing.T, o sim.Options, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipe.Listen()
		tr := l.Transport()
		o.Token = token
		s := sim.New(o)
		stop := serveOn(l, s)
		defer stop()
		defer tr.CloseIdleConnections()
		b := &bench{Server: s, t: t, dial: tr, store: storetest.NewMemory(), model: &scripted{}, policy: access.Policy{Mode: access.Open, AnyPlace: true}}
		defer b.store.Close()
		b.api = Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: tr})
		b.ada = s.AddUser("Ada", "ada")
		b.chat = s.PrivateChat(b.ada)
		f(t, b)
		noToken(t, b.log.String())
	})
}

func serveOn(l net.Listener, s *sim.Server) (stop func()) {
	web := &http.Server{Handler: s.Handler(), ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(l) }()
	return func() { s.Close(); _ = web.Close(); <-done }
}

// noToken fails where a text has the token or its secret half in it, however it is escaped.
func noToken(t testing.TB, text string) {
	t.Helper()
	if i := strings.Index(text, "secretsecret"); i >= 0 {
		t.Errorf("the token is told: …%s…", text[max(0, i-80):min(len(text), i+40)])
	}
}

// life is one run of Manager and conduit.
type life struct {
	b        *bench
	m        *session.Manager
	cancel   context.CancelFunc
	managed  chan error
	conduit  chan error
	finished error
	over     bool
}

var lives int

// start begins a life; change may alter what the conduit is given.
func (b *bench) start(change ...func(*Config)) *life {
	b.t.Helper()
	lives++
	name := fmt.Sprintf("life%d", lives)
	logger := slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var commander session.Commander
	if b.commands {
		commander = slash.New(slash.Config{Log: b.store})
	}
	platform := session.Platform{Policy: b.policy, Follow: true, Fetcher: b.api, People: b.api, Prefix: "/"}
	if b.signs {
		platform.Presenter, platform.Beat = NewPresence(b.api), Beat
	}
	sc := session.Config{
		Commander: commander, SlowNotice: time.Minute,
		Store: b.store, Provider: b.model, Spec: models.Spec{Model: "m"}, Life: name, Logger: logger, Counters: &b.figs,
		Platforms: map[string]session.Platform{Name: platform},
		MaxAge:    6 * time.Hour, RetryFor: time.Minute, ShutdownGrace: time.Second,
	}
	if b.sessions != nil {
		b.sessions(&sc)
	}
	m := session.New(sc)
	cfg := Config{
		API: b.api, Sessions: m, Store: b.store, Lease: b.store, Life: name, Paced: b.paced, Grace: time.Second,
		Health: &b.health, Counters: &b.figs, Logger: logger, Bare: ore.bare,
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &life{b: b, m: m, cancel: cancel, managed: make(chan error, 1), conduit: make(chan error, 1)}
	go func() { l.managed <- m.Run(ctx) }()
	go func() { l.conduit <- c.Run(ctx) }()
	return l
}

// stop ends the life and returns what the conduit's Run returned.
func (l *life) stop() error {
	l.b.t.Helper()
	if l.over {
		return l.finished
	}
	l.over = true
	l.cancel()
	if err := <-l.managed; err != nil {
		l.b.t.Errorf("the manager ended with %v", err)
	}
	l.finished = <-l.conduit
	return l.finished
}

// rest lets the bubble run for d, then ends the life in order.
func (l *life) rest(d time.Duration) {
	l.b.t.Helper()
	time.Sleep(d)
	if err := l.stop(); err != nil {
		l.b.t.Errorf("Run: %v", err)
	}
}

// texts returns what the bot has sent to a chat so far.
func (b *bench) texts(chat int64) []string {
	var out []string
	for _, l := range b.Transcript() {
		if l.Chat == chat && l.Action == "send" {
			out = append(out, l.Text)
		}
	}
	return out
}

// want compares what the bot has sent to a chat with what it should have.
// someRef is a notice's correlation id, which is a hash: a test writes "(ref …)".
var someRef = regexp.MustCompile(`\(ref [0-9a-f]{4}\)`)

func (b *bench) want(chat int64, want ...string) {
	b.t.Helper()
	got := b.texts(chat)
	for i, w := range want {
		if i < len(got) && strings.Contains(w, "(ref …)") {
			got[i] = someRef.ReplaceAllString(got[i], "(ref …)")
		}
	}
	if strings.Join(got, "\n---\n") != strings.Join(want, "\n---\n") {
		b.t.Errorf("chat %d got %q, want %q\n%s", chat, got, want, b.log.String())
	}
}

// logged counts the log lines that hold a text.
func (b *bench) logged(text string) int { return strings.Count(b.log.String(), text) }

// scripted is a model that repeats the newest message, or answers as told.
type scripted struct {
	mu     sync.Mutex
	asked  []string
	answer func(prompt string) string
	wait   time.Duration // before each answer
}

func (p *scripted) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	turns := st.Turns()
	prompt := turns[len(turns)-1].Text()
	p.mu.Lock()
	p.asked = append(p.asked, prompt)
	f, wait := p.answer, p.wait
	p.mu.Unlock()
	if conduit.Sleep(ctx, wait) != nil {
		return ctx.Err()
	}
	if f == nil {
		f = func(s string) string { return "re: " + s }
	}
	select {
	case ch <- artifact.Text{Content: f(prompt)}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answers makes f answer from now on.
func (p *scripted) answers(f func(prompt string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

func (p *scripted) prompts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// figures is a Counters that adds up.
type figures struct {
	mu sync.Mutex
	m  map[string]float64
}

func (f *figures) Add(c observe.Counter, v float64, labels ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = map[string]float64{}
	}
	f.m[strings.Join(append([]string{string(c)}, labels...), " ")] += v
}

func (*figures) Set(observe.Gauge, float64, ...string)         {}
func (*figures) Observe(observe.Histogram, float64, ...string) {}

func (f *figures) get(c observe.Counter, labels ...string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m[strings.Join(append([]string{string(c)}, labels...), " ")]
}

// health remembers what it was told, each state once.
type health struct {
	mu     sync.Mutex
	beats  int
	ready  bool
	reason string
	seen   []string
}

func (h *health) Beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beats++
	h.ready, h.reason = true, ""
}

func (h *health) Set(ready bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready, h.reason = ready, reason
	h.seen = append(h.seen, reason)
}

func (h *health) state() (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready, h.reason
}

// logBuffer takes log lines from several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// recorder is a Sessions that keeps what it is given, and gives it on only if told to.
type recorder struct {
	Sessions
	pass bool
	mu   sync.Mutex
	got  []session.Inbound
}

// onto puts the recorder before a conduit's Sessions.
func (r *recorder) onto(c *Config) { r.Sessions, c.Sessions = c.Sessions, r }

func (r *recorder) Accept(ctx context.Context, in session.Inbound, done func(session.Receipt)) {
	r.mu.Lock()
	r.got = append(r.got, in)
	r.mu.Unlock()
	if r.pass {
		r.Sessions.Accept(ctx, in, done)
		return
	}
	done(session.Receipt{})
}

func (r *recorder) inbounds() []session.Inbound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]session.Inbound(nil), r.got...)
}

// texts joins what was said.
func (r *recorder) texts() string {
	var out []string
	for _, in := range r.inbounds() {
		out = append(out, in.Text)
	}
	return strings.Join(out, "|")
}

var errDisk = errors.New("the disk is away")
