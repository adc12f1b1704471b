package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"orebot/internal/sim/fault"
)

// Options says what the server is like. The zero Options is a server of version 0.17.4, as choosy as a newer one, with the models tiny, plain and
// vision, that answers by StandIn, one request at a time, and loads in no time.
type Options struct {
	Models   []Model
	Answer   func(Request) Reply // called once per accepted chat, maybe concurrently; nil is StandIn
	Parallel int                 // OLLAMA_NUM_PARALLEL: requests one loaded model serves at a time; 0 is 1
	MaxQueue int                 // OLLAMA_MAX_QUEUE: requests that may wait behind a load, no others; 0 is 512
	Load     time.Duration       // how long a cold model takes
	Context  int                 // OLLAMA_CONTEXT_LENGTH: num_ctx of requests that name none; 0 is 4096
	APIKey   string              // if set, requests without "Authorization: Bearer" and it are refused with 401
	Version  string
	Leaks    int           // so many answers that a client leaves in the middle keep their slots until the model is unloaded (ollama#17131)
	Lenient  bool          // accepts what 0.17 accepts and newer servers refuse: see chat
	Faults   *fault.Script // by path: "/api/chat"
}

// Server is a simulated Ollama server. It is safe for concurrent use.
type Server struct {
	opt     Options
	rec     recorder
	loading chan struct{} // the scheduler loads one model at a time

	mu      sync.Mutex
	queued  int
	lost    int // answers that were left in the middle
	runners map[string]*runner
	servers []*http.Server
	running sync.WaitGroup
}

// New returns a server that isn't reachable yet: mount its Handler, or call Serve.
func New(opt Options) *Server {
	if opt.Models == nil {
		opt.Models = DefaultModels()
	}
	if opt.Answer == nil {
		opt.Answer = StandIn
	}
	if opt.Faults == nil {
		opt.Faults = &fault.Script{}
	}
	opt.Parallel = cmp.Or(opt.Parallel, 1)
	opt.MaxQueue = cmp.Or(opt.MaxQueue, 512)
	opt.Context = cmp.Or(opt.Context, 4096)
	if opt.Version == "" {
		opt.Version = "0.17.4"
	}
	return &Server{
		opt:     opt,
		rec:     recorder{changed: make(chan struct{})},
		loading: make(chan struct{}, 1),
		runners: map[string]*runner{},
	}
}

// Faults returns the script that disturbs the coming calls; its methods are paths.
func (s *Server) Faults() *fault.Script { return s.opt.Faults }

// Handler returns the whole server: recording in front, then scripted faults, then the routes.
func (s *Server) Handler() http.Handler {
	path := func(r *http.Request) string { return r.URL.Path }
	return s.rec.wrap(s.opt.Faults.Wrap(path, s.authorised(s.routes())))
}

// Serve answers on l, in the background, until Close.
func (s *Server) Serve(l net.Listener) {
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.servers = append(s.servers, srv)
	s.mu.Unlock()
	s.running.Go(func() { _ = srv.Serve(l) })
}

// Close cuts every connection that Serve made, as a killed server does, and waits for the listeners to end.
func (s *Server) Close() {
	s.mu.Lock()
	servers := s.servers
	s.servers = nil
	s.mu.Unlock()
	for _, srv := range servers {
		_ = srv.Close()
	}
	s.running.Wait()
	s.opt.Faults.Wait()
}

func (s *Server) authorised(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.opt.APIKey != "" && r.Header.Get("Authorization") != "Bearer "+s.opt.APIKey {
			refuse(w, http.StatusUnauthorized, "unauthorized")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes() http.Handler {
	routes := map[string]map[string]http.HandlerFunc{
		"/":            {"GET": alive, "HEAD": alive},
		"/api/version": {"GET": s.version, "HEAD": s.version},
		"/api/tags":    {"GET": s.tags, "HEAD": s.tags},
		"/api/ps":      {"GET": s.ps},
		"/api/show":    {"POST": s.show},
		"/api/chat":    {"POST": s.chat},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods, ok := routes[r.URL.Path]
		if !ok {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		h, ok := methods[r.Method]
		if !ok {
			http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
			return
		}
		h(w, r)
	})
}

func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("Ollama is running"))
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]string{"version": s.opt.Version})
}

// reply writes v as the server's one JSON object.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"unexpected response"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func refuse(w http.ResponseWriter, status int, text string) {
	reply(w, status, map[string]string{"error": text})
}

// refusal is an error with the status and the text that the client gets.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

// refuseWith answers err: a refusal with its status, a client that left with 499, which only the log of a real server shows.
func refuseWith(w http.ResponseWriter, err error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		refuse(w, r.status, r.text)
		return
	}
	refuse(w, 499, "request canceled")
}
