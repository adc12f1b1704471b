package slack

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"orebot/core/observe"
)

const (
	readLimit = 4 << 20          // bytes of one frame
	handshake = 15 * time.Second // for the WebSocket's
	ackBuffer = 32 << 10         // Slack drops frames that come in pieces, so that an ack must fit
	maxNap    = 5 * time.Second  // the longest pause of the client library's own that is let pass
)

// connect keeps a connection until ctx ends, then it returns nil, or until Slack refuses the credentials.
func (n *intake) connect(ctx context.Context) error {
	for {
		err := n.life(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case dead(codeOf(err)):
			return err
		}
		if err != nil { // the library gave up, as it does on a 404; the gate paces what follows
			n.trouble(err)
		}
	}
}

// life runs one client of the library and drains its events. It ends with ctx, with an error that the library or this package takes
// for final, or with nil where the client is to be replaced: its own pauses grow to five minutes, in which Slack's three redeliveries
// are over.
func (n *intake) life(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sm := n.newClient(ctx)
	n.client.Store(sm)
	defer n.up.Store(false)
	ended := make(chan error, 1)
	go func() { ended <- sm.RunContext(ctx) }()
	for {
		select {
		case ev := <-sm.Events:
			if over, err := n.event(ev); over {
				cancel(err)
			}
		case err := <-ended:
			if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && !errors.Is(cause, context.Canceled) {
				return cause
			} else if errors.Is(err, context.Canceled) {
				return nil
			}
			return n.s.cfg.API.clean(err)
		}
	}
}

func (n *intake) newClient(life context.Context) *socketmode.Client {
	api := n.s.cfg.API
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return n.dial(ctx, life, network, addr)
	}
	return socketmode.New(api.client,
		socketmode.OptionDialer(&websocket.Dialer{
			NetDialContext: dial, Proxy: api.account.Proxy, TLSClientConfig: api.account.TLS.Clone(),
			HandshakeTimeout: handshake, WriteBufferSize: ackBuffer,
		}),
		socketmode.OptionReadLimit(readLimit),
		socketmode.OptionLog(log.New(io.Discard, "", 0)),
	)
}

// dial connects for the WebSocket. Whatever arrives then is a sign of life; and the connection is cut when life ends, which the
// WebSocket's handshake doesn't heed.
func (n *intake) dial(ctx, life context.Context, network, addr string) (net.Conn, error) {
	dial := n.s.cfg.API.account.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: handshake}).DialContext
	}
	c, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	h := &heard{Conn: c, n: n}
	h.spare = context.AfterFunc(life, func() { _ = c.Close() })
	return h, nil
}

// heard is a connection that reports signs of life, at most one a second: Slack's pings are seen nowhere else.
type heard struct {
	net.Conn
	n     *intake
	spare func() bool // lets the connection outlive its client; used when it is closed anyway
	last  atomic.Int64
}

// Read reads, and beats while the conduit is connected.
func (h *heard) Read(p []byte) (int, error) {
	k, err := h.Conn.Read(p)
	if now := time.Now().UnixMilli(); k > 0 && h.n.up.Load() && now-h.last.Load() >= 1000 {
		h.last.Store(now)
		h.n.s.cfg.Health.Beat()
	}
	return k, err
}

// Close closes the connection.
func (h *heard) Close() error {
	h.spare()
	return h.Conn.Close()
}

// event handles what the library reports. over: this client has to end, with err where Slack refuses the credentials.
func (n *intake) event(ev socketmode.Event) (over bool, err error) {
	switch ev.Type {
	case socketmode.EventTypeConnecting:
		n.connecting()
	case socketmode.EventTypeConnectionError:
		return n.notOpened(ev)
	case socketmode.EventTypeHello:
		n.greeted(ev.Request)
	case socketmode.EventTypeErrorBadMessage:
		if bad, ok := ev.Data.(*socketmode.ErrorBadMessage); ok {
			n.unread(readFrame(bad.Message))
		}
	case socketmode.EventTypeErrorWriteFailed:
		n.s.log.Debug("ack not written")
	default:
		if ev.Request != nil {
			n.take(frameOf(ev.Request))
		}
	}
	return false, nil
}

// unread handles a frame that the library couldn't read: an odd greeting is one all the same.
func (n *intake) unread(f frame) {
	if f.kind == "hello" && f.envelope == "" {
		n.greeted(nil)
		return
	}
	n.take(f)
}

// connecting notes that there is no connection now.
func (n *intake) connecting() {
	if n.up.Swap(false) {
		n.lost = time.Now()
	}
	if n.troubled {
		return // what the trouble is has been told
	}
	reason, stormy := "connecting to Slack", n.s.cfg.API.gate.stormy()
	if stormy {
		reason = "Slack ends every connection at once; is Socket Mode on, and does nothing else use the app token?"
		if !n.stormy {
			n.s.log.Warn("Slack ends connections at once", observe.KeyReason, reason)
		}
	}
	n.stormy = stormy
	n.s.cfg.Health.Set(false, reason)
}

// notOpened notes that no connection could be opened.
func (n *intake) notOpened(ev socketmode.Event) (over bool, err error) {
	fail, ok := ev.Data.(*slackgo.ConnectionErrorEvent)
	if !ok {
		return false, nil
	}
	err = n.s.cfg.API.clean(fail.ErrorObj)
	switch {
	case errors.Is(err, context.Canceled):
		return false, nil // the end, and no trouble
	case dead(codeOf(err)):
		return true, err
	}
	n.trouble(err)
	var limited *slackgo.RateLimitedError
	if errors.As(err, &limited) {
		n.s.cfg.API.gate.hold(limited.RetryAfter)
	}
	return fail.Backoff > maxNap, nil
}

// trouble tells of a connection that can't be opened, once a streak.
func (n *intake) trouble(err error) {
	if !n.troubled {
		n.s.log.Warn("no connection to Slack", observe.KeyError, err)
	}
	n.troubled = true
	reason := "no connection to Slack"
	var status slackgo.StatusCodeError
	if errors.As(err, &status) && status.Code == http.StatusNotFound {
		reason = "no connection to Slack: is api_url right?"
	}
	n.s.cfg.Health.Set(false, reason)
}

// greeted notes that Slack has said hello: from here on events come.
func (n *intake) greeted(hello *socketmode.Request) {
	n.s.cfg.Health.Set(true, "")
	n.s.cfg.Health.Beat()
	n.up.Store(true)
	if n.hellos++; n.hellos > 1 {
		n.s.cfg.Counters.Add(observe.Reconnects, 1, Name)
	}
	if n.troubled {
		n.s.log.Info("connected to Slack again")
	}
	n.troubled = false
	if hello != nil && hello.NumConnections > n.own() && !n.shared {
		n.shared = true
		n.s.log.Warn("another process uses this app token and gets some of the events", observe.KeyCount, hello.NumConnections)
	}
}

// own is how many connections may be this process's own: Slack goes on counting for a while those that have just ended.
func (n *intake) own() int {
	if n.lost.IsZero() || time.Since(n.lost) >= stable {
		return 1
	}
	return 1 + n.s.cfg.API.gate.recent()
}
