package slack

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"orebot/internal/sim/pipe"
)

// bench is a server and the real slack-go client against it.
type bench struct {
	*Server
	ctx    context.Context
	url    string
	http   *http.Client
	dialer *websocket.Dialer
	api    *slackgo.Client
}

// inBubble runs f with a server over pipes in a bubble. What it leaves running makes the test fail.
func inBubble(t *testing.T, o Options, f func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipe.Listen()
		f(t, newBench(t, o, l, "http://slack.sim", l.Transport(), l.DialContext))
	})
}

// onLoopback runs f with a server on a real socket.
func onLoopback(t *testing.T, o Options, f func(*testing.T, *bench)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	f(t, newBench(t, o, l, "http://"+l.Addr().String(), &http.Transport{}, (&net.Dialer{}).DialContext))
}

type dialFunc = func(context.Context, string, string) (net.Conn, error)

func newBench(t *testing.T, o Options, l net.Listener, url string, tr *http.Transport, dial dialFunc) *bench {
	ctx, cancel := context.WithCancel(context.Background())
	b := &bench{Server: New(o), ctx: ctx, url: url}
	b.http = &http.Client{Transport: tr, Timeout: 20 * time.Second}
	b.dialer = &websocket.Dialer{NetDialContext: dial, HandshakeTimeout: 10 * time.Second}
	b.api = slackgo.New(b.opt.BotToken, slackgo.OptionAppLevelToken(b.opt.AppToken), slackgo.OptionAPIURL(url+"/api/"),
		slackgo.OptionHTTPClient(b.http))
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		cancel()
		b.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		tr.CloseIdleConnections()
	})
	return b
}

// listener is a Socket Mode client that acks what ack says yes to, and remembers all envelopes.
type listener struct {
	mu   sync.Mutex
	got  []envelope
	bad  int
	conn int
	end  context.CancelFunc
	over sync.WaitGroup
}

type envelope struct {
	EnvelopeID    string `json:"envelope_id"`
	Type          string `json:"type"`
	RetryAttempt  int    `json:"retry_attempt"`
	RetryReason   string `json:"retry_reason"`
	NumConnection int    `json:"num_connections"`
	Payload       struct {
		EventID string         `json:"event_id"`
		Event   map[string]any `json:"event"`
		Command string         `json:"command"`
		Text    string         `json:"text"`
	} `json:"payload"`
}

// listen connects and returns once the server has greeted it.
func (b *bench) listen(t *testing.T, ack func(envelope) (any, bool)) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	k := &listener{end: cancel}
	sm := socketmode.New(b.api, socketmode.OptionDialer(b.dialer), socketmode.OptionLog(log.New(io.Discard, "", 0)))
	before := len(b.ConnectionOpens())
	k.over.Go(func() { _ = sm.RunContext(ctx) })
	k.over.Go(func() { k.pump(ctx, sm, ack) })
	t.Cleanup(k.stop)
	within, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	err := b.wait(within, func() func() bool {
		n := len(b.link.opens)
		return func() bool { return n > before }
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *listener) stop() { k.end(); k.over.Wait() }

func (k *listener) pump(ctx context.Context, sm *socketmode.Client, ack func(envelope) (any, bool)) {
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-sm.Events:
			k.note(ev)
			if ev.Request == nil || ev.Request.EnvelopeID == "" {
				continue
			}
			payload, yes := ack(k.last())
			if yes {
				_ = sm.AckCtx(ctx, ev.Request.EnvelopeID, payload)
			}
		}
	}
}

func (k *listener) note(ev socketmode.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch ev.Type {
	case socketmode.EventTypeConnected:
		k.conn++
	case socketmode.EventTypeErrorBadMessage:
		k.bad++
	}
	if ev.Request == nil {
		return
	}
	var e envelope
	raw := map[string]any{
		"envelope_id": ev.Request.EnvelopeID, "type": ev.Request.Type, "retry_attempt": ev.Request.RetryAttempt,
		"retry_reason": ev.Request.RetryReason, "num_connections": ev.Request.NumConnections, "payload": ev.Request.Payload,
	}
	data, _ := json.Marshal(raw)
	_ = json.Unmarshal(data, &e)
	k.got = append(k.got, e)
}

func (k *listener) last() envelope {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.got[len(k.got)-1]
}

// envelopes are those that came in but for hello.
func (k *listener) envelopes() []envelope {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []envelope
	for _, e := range k.got {
		if e.Type != "hello" {
			out = append(out, e)
		}
	}
	return out
}

func always(envelope) (any, bool) { return nil, true }
func never(envelope) (any, bool)  { return nil, false }

// settled waits until n envelopes were acked.
func (b *bench) settled(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
	defer cancel()
	acked := func() int {
		acks := 0
		for _, d := range b.link.log {
			if d.Acked {
				acks++
			}
		}
		return acks
	}
	err := b.wait(ctx, func() func() bool { got := acked(); return func() bool { return got >= n } })
	if err != nil {
		t.Fatalf("%d acks: %v; have %+v", n, err, b.Stats())
	}
}
