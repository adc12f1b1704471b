package slack

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
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
	simslack "orebot/internal/sim/slack"
)

// rig is a workspace with the real conduit and the real session behind it, on a store in memory, in a bubble.
type rig struct {
	*simslack.Server
	t       *testing.T
	api     *API
	mem     *storetest.Memory
	model   *echo
	logs    *logBook
	health  *healthBook
	counts  *countBook
	config  func(*session.Config)
	taken   *tap
	conduit func(*Config)

	quit chan struct{}
	life int
	s    *Slack
	stop context.CancelFunc
	done chan error
}

// inRig runs f with a conduit that runs. What is left running fails the test, and so does a secret in a log line or a health reason.
func inRig(t *testing.T, o simslack.Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	inRigWith(t, o, func(*rig) {}, f)
}

// inRigWith is inRig with a hand on the rig before its first life.
func inRigWith(t *testing.T, o simslack.Options, prepare func(*rig), f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o)
		prepare(r)
		defer r.close()
		r.start()
		if err := r.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		f(t, r)
		r.end()
	})
}

func newRig(t *testing.T, o simslack.Options) *rig {
	r := &rig{t: t, mem: storetest.NewMemory(), model: &echo{}, logs: &logBook{}, health: &healthBook{}, counts: &countBook{}}
	sim, api, end := dialSim(o)
	r.Server, r.api = sim, api
	t.Cleanup(end)
	return r
}

// close ends what outlives a life, and looks for secrets in what was told to the operator.
func (r *rig) close() {
	if err := r.mem.Close(); err != nil {
		r.t.Error(err)
	}
	told := r.logs.String() + r.health.String()
	if strings.Contains(told, "context canceled") {
		r.t.Errorf("the end was told as trouble:\n%s", told)
	}
	for _, secret := range []string{botToken, appToken, "ticket=sim", "/response_url/"} {
		if strings.Contains(told, secret) {
			r.t.Errorf("%s was told to the operator:\n%s", secret, told)
		}
	}
}

// start begins a life of session and conduit.
func (r *rig) start() {
	r.t.Helper()
	r.life++
	r.quit = make(chan struct{})
	cfg := session.Config{
		Store: r.mem, Provider: r.model, Spec: models.Spec{Model: "m"}, Life: fmt.Sprint("life ", r.life),
		Platforms: map[string]session.Platform{Name: {Policy: access.Policy{Mode: access.Members, AnyPlace: true}, People: r.api, Namer: r.api, Follow: true}},
		RetryFor:  time.Minute, ShutdownGrace: time.Second, Logger: slog.New(slog.NewTextHandler(r.logs, nil)), Counters: r.counts,
	}
	if r.config != nil {
		r.config(&cfg)
	}
	m := session.New(cfg)
	r.taken = &tap{Manager: m}
	cc := Config{
		API: r.api, Sessions: r.taken, Store: r.mem, Lease: r.mem, Life: cfg.Life, Paced: true, Quit: r.quit, Health: r.health, Counters: r.counts,
		Logger: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if r.conduit != nil {
		r.conduit(&cc)
	}
	s, err := New(cc)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.s, r.stop, r.done = s, stop, make(chan error, 1)
	go func() {
		var wg sync.WaitGroup
		wg.Go(func() { _ = m.Run(ctx) })
		err := s.Run(ctx)
		stop()
		wg.Wait()
		r.done <- err
	}()
}

// end ends the life within a second, which is the model's grace.
func (r *rig) end() {
	r.t.Helper()
	begin := time.Now()
	r.stop()
	if err := <-r.done; err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if d := time.Since(begin); d > time.Second {
		r.t.Errorf("the end took %v", d)
	}
}

// tap is a session that notes what it is given.
type tap struct {
	*session.Manager
	mu  sync.Mutex
	got []session.Inbound
}

func (p *tap) Accept(ctx context.Context, in session.Inbound, done func(session.Receipt)) {
	p.mu.Lock()
	p.got = append(p.got, in)
	p.mu.Unlock()
	p.Manager.Accept(ctx, in, done)
}

// inbounds are what this life has given to the session.
func (r *rig) inbounds() []session.Inbound {
	r.taken.mu.Lock()
	defer r.taken.mu.Unlock()
	return slices.Clone(r.taken.got)
}

// posts are the bot's messages as "channel/thread: text", in order.
func (r *rig) posts() []string {
	var out []string
	for _, l := range r.Transcript() {
		if l.Kind == simslack.Post && l.User == "UBOT" {
			_, rest, _ := strings.Cut(l.String(), "post ")
			out = append(out, strings.Replace(rest, " UBOT:", ":", 1))
		} else if l.Kind == simslack.Ephemeral {
			out = append(out, l.Channel+"/"+l.Thread+" to "+l.To+": "+l.Text)
		}
	}
	return out
}

// someRef is a notice's correlation id, which is a hash: a test writes "(ref …)".
var someRef = regexp.MustCompile(`\(ref [0-9a-f]{4}\)`)

func (r *rig) wantPosts(want ...string) {
	r.t.Helper()
	got := r.posts()
	for i, w := range want {
		if i < len(got) && strings.Contains(w, "(ref …)") {
			got[i] = someRef.ReplaceAllString(got[i], "(ref …)")
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("posts:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (r *rig) wantPrompts(want ...string) {
	r.t.Helper()
	if got := r.model.asked(); !slices.Equal(got, want) {
		r.t.Errorf("the model was asked %q, want %q", got, want)
	}
}

// allAcked checks that every envelope was acknowledged at its first try, within the given time.
func (r *rig) allAcked(within time.Duration) {
	r.t.Helper()
	for _, d := range r.Deliveries() {
		if !d.Acked || d.AckAfter > within {
			r.t.Errorf("envelope %s of %s: acked %v after %v", d.Envelope, d.Type, d.Acked, d.AckAfter)
		}
	}
	if st := r.Stats(); st.Stray > 0 {
		r.t.Errorf("%d stray acks", st.Stray)
	}
}

// echo is a model that repeats what it is asked.
type echo struct {
	mu    sync.Mutex
	asks  []string
	delay time.Duration
	reply func(prompt string) string
}

// Invoke answers the newest user turn.
func (e *echo) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	turns := st.Turns()
	prompt := turns[len(turns)-1].Text()
	e.mu.Lock()
	e.asks = append(e.asks, prompt)
	delay, reply := e.delay, e.reply
	e.mu.Unlock()
	answer := "re: " + prompt
	if reply != nil {
		answer = reply(prompt)
	}
	if err := conduit.Sleep(ctx, delay); err != nil {
		return err
	}
	select {
	case ch <- artifact.Text{Content: answer}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// say makes the model answer with f; nil: with what it was asked.
func (e *echo) say(f func(prompt string) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reply = f
}

// think makes the model take d for each answer from now on.
func (e *echo) think(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.delay = d
}

func (e *echo) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asks)
}

// logBook keeps what was logged.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// count tells how often a text was logged.
func (l *logBook) count(text string) int { return strings.Count(l.String(), text) }

// healthBook keeps what the conduit says of its connection.
type healthBook struct {
	mu    sync.Mutex
	ready bool
	now   string
	all   []string
	beats []time.Time
	notes map[string]string
}

func (h *healthBook) Note(topic, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notes == nil {
		h.notes = map[string]string{}
	}
	h.notes[topic] = text
}

func (h *healthBook) noted(topic string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notes[topic]
}

func (h *healthBook) Beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beats = append(h.beats, time.Now())
}

func (h *healthBook) Set(ready bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready, h.now = ready, reason
	h.all = append(h.all, reason)
}

func (h *healthBook) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.all, "\n")
}

func (h *healthBook) state() (ready bool, reason string, lastBeat time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.beats) > 0 {
		lastBeat = h.beats[len(h.beats)-1]
	}
	return h.ready, h.now, lastBeat
}

// countBook keeps counters under "name label label".
type countBook struct {
	observe.Nop
	mu sync.Mutex
	n  map[string]float64
}

func (c *countBook) Add(name observe.Counter, delta float64, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]float64{}
	}
	c.n[string(name)+" "+strings.Join(labels, " ")] += delta
}

func (c *countBook) get(name observe.Counter, labels ...string) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[string(name)+" "+strings.Join(labels, " ")]
}
