package telegram

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	"orebot/internal/sim/pipe"
	sim "orebot/internal/sim/telegram"
)

func TestConformance(t *testing.T) {
	conduittest.Run(t, func(t *testing.T, _ *slog.Logger) *conduittest.Rig {
		l := pipe.Listen()
		tr := l.Transport()
		w := &wire{dial: l.DialContext, next: tr}
		tr.DialContext = w.connect
		s := sim.New(sim.Options{Token: token})
		stop := serveOn(l, s)
		ada := s.AddUser("Ada", "ada")
		chat := s.PrivateChat(ada)
		group := s.AddGroup("G")
		api := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: w})
		return &conduittest.Rig{
			Name: Name, Places: []session.Address{place{chat: group}.address(), place{chat: chat}.address()},
			Moved: place{chat: -1001000000002}.address(), Long: 9500,
			Renderer: NewRenderer(0), Poster: NewPoster(api),
			Fault: func(a session.Address, f conduittest.Fault) bool { return script(s, w, ada, a, f) },
			Shown: func(a session.Address) []string { return shownAt(s, a) },
			Cut:   w.cut, Secrets: []string{token, "secretsecret"},
			Close: func() { tr.CloseIdleConnections(); stop() },
		}
	})
}

// script lets the next post meet a fault.
func script(s *sim.Server, w *wire, ada sim.User, a session.Address, f conduittest.Fault) bool {
	p, _ := parseAddress(a)
	faults := map[conduittest.Fault]fault.Fault{
		conduittest.FaultRetry:      badGateway,
		conduittest.FaultRetryAfter: sim.TooMany(2 * time.Second),
		conduittest.FaultMalformed:  sim.Refusal(400, "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\""),
		conduittest.FaultTooBig:     sim.Refusal(400, "Bad Request: message is too long"),
		conduittest.FaultDead:       sim.Refusal(404, "Not Found"),
		conduittest.FaultCut:        {Cut: true},
		conduittest.FaultLate:       {CutDo: 2 * time.Second},
		conduittest.FaultReset:      {Reset: true},
		conduittest.FaultHang:       {Hang: true},
	}
	switch x, ok := faults[f]; {
	case ok:
		s.Faults.Next("sendMessage", x)
	case f == conduittest.FaultGarbage:
		w.garble.Store(true)
	case f == conduittest.FaultGone && p.private():
		s.Block(ada)
	case f == conduittest.FaultGone:
		s.Kick(p.chat, ada)
	case f == conduittest.FaultMoved && !p.private():
		s.Migrate(p.chat)
	default:
		return false
	}
	return true
}

func shownAt(s *sim.Server, a session.Address) []string {
	p, err := parseAddress(a)
	if err != nil {
		panic(err)
	}
	var out []string
	for _, l := range s.Transcript() {
		if l.Chat == p.chat && l.Action == "send" {
			out = append(out, l.Text)
		}
	}
	return out
}

// wire is a transport whose connections can be cut, and whose next answer can be made unreadable.
type wire struct {
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	next   http.RoundTripper
	garble atomic.Bool

	mu    sync.Mutex
	conns []net.Conn
}

func (w *wire) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := w.dial(ctx, network, addr)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.conns = append(w.conns, c)
	}
	return c, err
}

// cut closes every connection.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// RoundTrip hands the request on.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/sendMessage") || !w.garble.CompareAndSwap(true, false) {
		return resp, err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(b[:len(b)/2]))
	return resp, err
}
