package slack

import (
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"orebot/internal/sim/fault"
)

// Server is one simulated workspace with one app installed. It is safe for concurrent use.
type Server struct {
	// Faults are what goes wrong next. A Web API call goes by its method ("chat.postMessage"), the rest by "link" (the
	// WebSocket handshake), "upload" and "files" (a file's bytes, in and out) and "response_url".
	Faults *fault.Script

	opt   Options
	api   map[string]method
	start time.Time
	ctx   context.Context // ends with Close
	end   context.CancelFunc
	work  sync.WaitGroup // requests, sockets included

	mu      sync.Mutex // guards all below; never held while a connection is written or read
	closed  bool
	servers []*http.Server
	timers  map[*time.Timer]struct{}
	rand    *rand.Rand
	base    string // where clients reach the server, as the last of them did
	calls   map[string][]time.Time
	last    map[string]time.Time // of the calls that Options.Limits let through
	world   world
	link    link
	seen    record
	uploads map[string]*upload
	hooks   map[string]*SlashCall // by the last part of the response URL
}

// New returns a workspace with the bot in it and nobody else. Serve it, and Close it at the end.
func New(o Options) *Server {
	o = o.withDefaults()
	ctx, end := context.WithCancel(context.Background())
	s := &Server{
		Faults: &fault.Script{}, opt: o, api: methods(), start: time.Now(), ctx: ctx, end: end,
		timers: map[*time.Timer]struct{}{}, rand: rand.New(rand.NewPCG(o.Seed, 1)), base: "http://slack.sim",
		calls: map[string][]time.Time{}, last: map[string]time.Time{}, world: newWorld(), link: newLink(), seen: newRecord(),
		uploads: map[string]*upload{}, hooks: map[string]*SlashCall{},
	}
	s.world.users[o.BotUser] = &User{ID: o.BotUser, Name: o.BotName, Team: o.Team, Bot: true}
	return s
}

// Handler serves the Web API under /api/, Socket Mode under /link/, and the upload and response URLs that it hands out.
// URLs are made from the Host of the request that asked for them.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.serveAPI)
	mux.HandleFunc("/link/", s.serveLink)
	mux.HandleFunc("/upload/", s.serveUpload)
	mux.HandleFunc("/response_url/", s.serveResponse)
	mux.HandleFunc("/files/", s.serveFile)
	mux.HandleFunc("/signin", serveSignIn)
	faulty := s.Faults.Wrap(methodOf, mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter(r) {
			panic(http.ErrAbortHandler)
		}
		defer s.work.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		faulty.ServeHTTP(w, r.WithContext(ctx))
	})
}

// methodOf names the call that a request makes, for counting and for faults.
func methodOf(r *http.Request) string {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if kind == "api" {
		return rest
	}
	return kind
}

// enter counts a request in; it fails once the server is closed.
func (s *Server) enter(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	s.base = baseOf(r)
	s.calls[methodOf(r)] = append(s.calls[methodOf(r)], time.Now())
	return true
}

func baseOf(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Serve accepts connections on l until Close, which it then reports as nil, as it does a closed listener.
func (s *Server) Serve(l net.Listener) error {
	srv := &http.Server{Handler: s.Handler(), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.servers = append(s.servers, srv)
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return l.Close()
	}
	err := srv.Serve(l)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close cuts every connection and returns when no goroutine of the server is left but Serve's callers, who return next.
// What Faults put off is waited for. A closed Server can still be read.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	servers, sockets := s.servers, slices.Clone(s.link.sockets)
	for t := range s.timers {
		t.Stop()
	}
	clear(s.timers)
	s.changed()
	s.mu.Unlock()
	s.end()
	for _, srv := range servers {
		_ = srv.Close()
	}
	for _, k := range sockets {
		_ = k.conn.Close()
	}
	s.work.Wait()
	s.Faults.Wait()
}

// after runs f under the lock when d has passed, unless stop or Close comes first. It is called under the lock.
func (s *Server) after(d time.Duration, f func()) *time.Timer {
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, live := s.timers[t]; live {
			delete(s.timers, t)
			f()
		}
	})
	if s.closed {
		t.Stop()
		return t
	}
	s.timers[t] = struct{}{}
	return t
}

// stop ends a timer of after; nil is allowed.
func (s *Server) stop(t *time.Timer) {
	if t == nil {
		return
	}
	t.Stop()
	delete(s.timers, t)
}

// Calls returns when each call of method came in, those that met a fault included. Names are those of Faults.
func (s *Server) Calls(method string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Time(nil), s.calls[method]...)
}
