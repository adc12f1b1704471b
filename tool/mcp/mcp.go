package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/observe"
	"orebot/core/tool"
	"orebot/internal/secret"
)

// Config describes one server. Exactly one of URL and Command is set.
type Config struct {
	// Name stands before the names of its tools: small letters, digits, hyphens.
	Name string
	// URL is the address of a streamable HTTP endpoint; it may hold a password or a key.
	URL secret.String
	// Command is the program and its arguments.
	Command []string
	// Env is the whole environment of Command.
	Env map[string]secret.String
	// Tools are the names, as the server has them, of those that are offered; empty: all.
	Tools []string
	// Set takes the tools whenever they are listed. Its error names those that it leaves out.
	Set func([]tool.Tool) error
	// Transport does the round trips for URL; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Connect is how long the server may take to start and shake hands, and then to list its tools; zero is 30 s.
	Connect time.Duration
	// PingEvery is the time between two questions for a sign of life, PingTime how long an answer may take; zero is 30 s and 20 s. After
	// that, or after several such silences while calls run, the server counts as gone, its calls end, and it is connected or started again.
	PingEvery, PingTime time.Duration
	// MaxMessage is how many bytes a message from the server may have; zero is 8 MiB. A result that is larger fails by itself.
	MaxMessage int
	// Logger hears of what begins, ends and fails. Nil is silence.
	Logger *slog.Logger
}

// Server is one MCP server. Run must be running for its tools to be there.
type Server struct {
	cfg    Config
	log    *slog.Logger
	redact *secret.Redactor

	listed  string       // the sum of what was listed last; Run's
	offered int          // how many tools of it are offered; Run's
	calls   atomic.Int32 // that run now

	mu      sync.Mutex
	session *mcp.ClientSession // nil: it is away
}

// New checks the configuration; it starts and connects nothing. Its errors don't repeat the URL.
func New(cfg Config) (*Server, error) {
	cfg.Connect, cfg.MaxMessage = cmp.Or(cfg.Connect, connectTime), cmp.Or(cfg.MaxMessage, maxMessage)
	cfg.PingEvery, cfg.PingTime = cmp.Or(cfg.PingEvery, pingEvery), cmp.Or(cfg.PingTime, pingTime)
	s := &Server{cfg: cfg, log: cfg.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = s.log.With(observe.KeyServer, cfg.Name)
	secrets := make([]secret.String, 0, len(cfg.Env))
	for _, v := range cfg.Env {
		secrets = append(secrets, v)
	}
	switch {
	case cfg.Name == "" || cfg.Set == nil:
		return nil, errors.New("mcp: a server needs a name and somebody who takes its tools")
	case cfg.URL.IsZero() == (len(cfg.Command) == 0):
		return nil, fmt.Errorf("mcp: %s: needs either a url or a command", cfg.Name)
	case !cfg.URL.IsZero():
		u, err := url.Parse(cfg.URL.Reveal())
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("mcp: %s: the url isn't one of http or https", cfg.Name)
		}
		secrets = append(secrets, urlSecrets(u)...)
	}
	s.redact = secret.NewRedactor(secrets...)
	return s, nil
}

// urlSecrets are the parts of a URL by which it could be used: keys stand in the user information, in the query, and in paths too.
func urlSecrets(u *url.URL) (out []secret.String) {
	out = append(out, secret.New(u.String()), secret.New(u.Redacted()), secret.New(u.RawQuery))
	if path := u.RequestURI(); path != "/" {
		out = append(out, secret.New(path))
	}
	if p, ok := u.User.Password(); ok {
		out = append(out, secret.New(p))
	}
	for _, values := range u.Query() {
		for _, v := range values {
			out = append(out, secret.New(v))
		}
	}
	return out
}

// Waits between the end of one connection and the next try.
const (
	firstWait = time.Second
	maxWait   = time.Minute
	wellAfter = time.Minute // so long a connection makes the next wait the first again
)

// Run keeps the server connected until ctx ends; then it ends what it started, and returns nil.
func (s *Server) Run(ctx context.Context) error {
	wait, told := firstWait, false
	for try := 0; ; try++ {
		begin := time.Now()
		up, err := s.serve(ctx, try)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(begin) >= wellAfter {
			wait = firstWait
		}
		if up || !told { // one line for each streak of failures
			s.log.Warn("mcp server is away", observe.KeyError, s.redact.Error(err), observe.KeyWait, wait)
		}
		told = true
		select {
		case <-time.After(wait + rand.N(wait/4+1)):
		case <-ctx.Done():
			return nil
		}
		wait = min(2*wait, maxWait)
	}
}
