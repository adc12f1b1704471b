package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxSockets  = 10
	maxFrame    = 20_480           // bytes that a client may send in one message
	ticketLife  = 30 * time.Second // from apps.connections.open to the handshake
	writeLimit  = 30 * time.Second // for a frame that the client doesn't read
	closeLimit  = time.Second      // for the client's answer to a close frame
	warningLead = 10 * time.Second // between the warning and the end of a connection
)

// socket is one connection. Its handler reads, one goroutine writes; queue and leaving are under the server's lock.
type socket struct {
	conn    *websocket.Conn
	queue   []frame
	wake    chan struct{}
	done    chan struct{} // closed when the reader has ended
	leaving bool          // gets no more envelopes
	life    *time.Timer
}

type frame struct {
	data []byte
	last bool // the connection is closed after it
}

func (s *Server) openConnection(c *call) (object, error) {
	ticket := fmt.Sprintf("sim-%d", s.world.next("ticket"))
	s.link.tickets[ticket] = time.Now()
	ws := "ws" + strings.TrimPrefix(c.base, "http")
	return object{"url": ws + "/link/?ticket=" + ticket + "&app_id=" + s.opt.AppID}, nil
}

func (s *Server) serveLink(w http.ResponseWriter, r *http.Request) {
	if !s.redeem(r.URL.Query().Get("ticket")) {
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	life := s.opt.Lifetime
	if r.URL.Query().Get("debug_reconnects") == "true" {
		life = 6 * time.Minute
	}
	k := &socket{conn: conn, wake: make(chan struct{}, 1), done: make(chan struct{})}
	var writer sync.WaitGroup
	writer.Go(func() { s.write(k) })
	if s.join(k, life) {
		s.read(k)
	}
	s.leave(k)
	writer.Wait()
}

func (s *Server) redeem(ticket string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.link.tickets[ticket]
	delete(s.link.tickets, ticket)
	return ok && time.Since(at) <= ticketLife
}

// join greets a connection, or tells it that there are too many. It fails once the server is closed.
func (s *Server) join(k *socket, life time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if len(s.link.sockets) >= maxSockets {
		k.leaving = true
		k.push(disconnectFrame(TooManyWebsockets), true)
		return true
	}
	s.link.sockets = append(s.link.sockets, k)
	s.link.opens = append(s.link.opens, time.Now())
	k.push(encode(object{
		"type": "hello", "num_connections": len(s.link.sockets), "connection_info": object{"app_id": s.opt.AppID},
		"debug_info": object{
			"host": "applink-sim", "build_number": 1, "approximate_connection_time": int(life.Seconds()),
		},
	}), false)
	if life > 0 {
		k.life = s.after(max(life-warningLead, 0), func() { s.disconnect(k, Warning) })
	}
	if s.opt.Resend {
		s.resend(k)
	}
	s.changed()
	return true
}

func (s *Server) leave(k *socket) {
	s.mu.Lock()
	s.link.sockets = slices.DeleteFunc(s.link.sockets, func(x *socket) bool { return x == k })
	s.stop(k.life)
	if open := s.link.staying(); s.opt.Resend && len(open) > 0 {
		s.resend(open[0]) // the client was back before its leaving was noticed
	}
	s.changed()
	s.mu.Unlock()
	close(k.done)
	_ = k.conn.Close()
}

// push queues a frame. It is called under the lock.
func (k *socket) push(data []byte, last bool) {
	k.queue = append(k.queue, frame{data, last})
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (s *Server) write(k *socket) {
	var tick <-chan time.Time
	if s.opt.PingInterval > 0 {
		t := time.NewTicker(s.opt.PingInterval)
		defer t.Stop()
		tick = t.C
	}
	var err error
	for err == nil {
		select {
		case <-k.done:
			return
		case <-tick:
			err = k.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-sim"), time.Now().Add(writeLimit))
		case <-k.wake:
			err = k.flush(s.drain(k))
		}
	}
	_ = k.conn.Close() // ends the reader, and with it the socket
}

func (s *Server) drain(k *socket) []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := k.queue
	k.queue = nil
	return q
}

func (k *socket) flush(frames []frame) error {
	for _, f := range frames {
		_ = k.conn.SetWriteDeadline(time.Now().Add(writeLimit))
		if err := k.conn.WriteMessage(websocket.TextMessage, f.data); err != nil {
			return err
		}
		if f.last {
			k.goodbye(websocket.CloseNormalClosure, "")
		}
	}
	return nil
}

// goodbye sends a close frame; the reader then has a moment for the client's answer.
func (k *socket) goodbye(code int, why string) {
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(closeLimit))
	_ = k.conn.SetReadDeadline(time.Now().Add(closeLimit))
}

// read takes the client's frames until the connection ends.
func (s *Server) read(k *socket) {
	for {
		data, err := k.next()
		if errors.Is(err, errTooLong) {
			k.goodbye(websocket.CloseMessageTooBig, fmt.Sprintf("Max frame length of %d has been exceeded", maxFrame))
			for err = nil; err == nil; {
				_, _, err = k.conn.NextReader()
			}
		}
		if err != nil {
			return
		}
		s.received(data)
	}
}

var errTooLong = errors.New("frame too long")

func (k *socket) next() ([]byte, error) {
	_, r, err := k.conn.NextReader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFrame+1))
	if err == nil && len(data) > maxFrame {
		return nil, errTooLong
	}
	return data, err
}

// received handles a client's frame: an ack, or something that Slack ignores and Stats counts.
func (s *Server) received(data []byte) {
	var ack struct {
		Envelope string          `json:"envelope_id"`
		Payload  json.RawMessage `json:"payload"`
	}
	err := json.Unmarshal(data, &ack)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.link.pending[ack.Envelope]
	if err != nil || d == nil {
		s.link.stray++
		return
	}
	s.acked(d, ack.Payload)
}
