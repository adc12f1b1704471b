package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	readLimit  = 4 << 20          // bytes of one frame
	handshake  = 15 * time.Second // for the WebSocket's
	ackBuffer  = 32 << 10         // Slack drops frames that come in pieces, so that an ack must fit
	deafAfter  = 30 * time.Second // without a ping a connection is dead: Slack pings every few seconds
	writeLimit = 5 * time.Second
)

var errNoURL = errors.New("the answer names no place to connect to")

// wire is one connection to Socket Mode. One goroutine reads, another one writes.
type wire struct {
	conn *websocket.Conn
	over atomic.Bool // reading is to end
}

// ticket asks where to connect, which is paced by the gate. The address serves once, and is a secret.
func (api *API) ticket(ctx context.Context) (*url.URL, error) {
	o, err := api.askAs(ctx, api.account.AppToken, "apps.connections.open", url.Values{})
	if err != nil {
		return nil, fmt.Errorf("slack: apps.connections.open: %w", api.clean(err))
	}
	u, err := url.Parse(o.text("url"))
	if err != nil || u.Scheme != "wss" && u.Scheme != "ws" || u.Host == "" {
		return nil, fmt.Errorf("slack: apps.connections.open: %w", errNoURL)
	}
	return u, nil
}

// open opens a connection. No error carries the ticket.
func (api *API) open(ctx context.Context) (*wire, error) {
	u, err := api.ticket(ctx)
	if err != nil {
		return nil, err
	}
	conn, resp, err := api.handshake(ctx, u.String())
	switch {
	case err == nil:
	case resp != nil:
		return nil, fmt.Errorf("slack: connect to %s: %s", u.Host, resp.Status)
	default:
		return nil, fmt.Errorf("slack: connect to %s: %w", u.Host, bare(err))
	}
	conn.SetReadLimit(readLimit)
	return &wire{conn: conn}, nil
}

// bare takes the address, which holds the ticket, off an error.
func bare(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// handshake connects as the account says. It is cut when ctx ends, which the library's handshake doesn't heed.
func (api *API) handshake(ctx context.Context, url string) (*websocket.Conn, *http.Response, error) {
	dial, spare := api.account.DialContext, func() bool { return true }
	if dial == nil {
		dial = (&net.Dialer{Timeout: handshake}).DialContext
	}
	d := &websocket.Dialer{
		NetDialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err == nil {
				spare = context.AfterFunc(ctx, func() { _ = c.Close() })
			}
			return c, err
		},
		Proxy: api.account.Proxy, TLSClientConfig: api.account.TLS.Clone(), HandshakeTimeout: handshake, WriteBufferSize: ackBuffer,
	}
	conn, resp, err := d.DialContext(ctx, url, nil)
	spare()
	return conn, resp, err
}

// read calls f for each frame until the connection ends, f says so, or ctx ends. alive is called at every ping.
func (w *wire) read(ctx context.Context, alive func(), f func(data []byte) (over bool)) error {
	defer context.AfterFunc(ctx, func() {
		w.over.Store(true)
		w.listen()
	})()
	w.conn.SetPingHandler(func(text string) error {
		w.listen()
		alive()
		_ = w.conn.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(writeLimit)) // one that can't be written ends the reading
		return nil
	})
	w.listen()
	for {
		_, data, err := w.conn.ReadMessage()
		if err != nil {
			return err
		}
		if f(data) {
			return nil
		}
	}
}

// listen gives the connection until the next ping has to be there, and none when reading is to end.
func (w *wire) listen() {
	_ = w.conn.SetReadDeadline(time.Now().Add(deafAfter))
	if w.over.Load() {
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// write sends an ack, in one frame.
func (w *wire) write(a ack) error {
	frame := map[string]any{"envelope_id": a.envelope}
	if a.payload != nil {
		frame["payload"] = a.payload
	}
	b, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	_ = w.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	return w.conn.WriteMessage(websocket.TextMessage, b)
}

// close says goodbye and closes.
func (w *wire) close() {
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = w.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	_ = w.conn.Close()
}
