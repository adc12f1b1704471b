package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"orebot/core/provider"
	"orebot/internal/secret"
)

// Opener reads what a "blob:" URL stands for: the same bytes each time.
type Opener interface {
	Open(ctx context.Context, url string) (io.ReadCloser, error)
}

// Config says where the servers are and what holds for each call, unless its Spec says otherwise.
type Config struct {
	// Hosts are base URLs, or host[:port] as in $OLLAMA_HOST. At least one. A thread stays with one of them while that is well.
	Hosts []string
	// MaxConcurrent is how many chats one host is given at a time, the rest wait; zero is no limit.
	MaxConcurrent int
	// APIKey is sent as a bearer token, if set; user information in a host's URL is used where it isn't.
	APIKey secret.String
	// KeepAlive is how long a model stays in memory after a call: negative is for ever, zero unloads it at once.
	KeepAlive time.Duration
	// NumCtx is the context window in tokens, where the Spec names none; zero leaves it to the server.
	NumCtx int
	// Options are sent with each call, by Ollama's names; those of the Spec win.
	Options map[string]any
	// FirstTokenTimeout is how long the first line of an answer may take, the loading of the model included; zero is for
	// ever. The server aborts a load whose client leaves: too short a time means that the model never loads.
	FirstTokenTimeout time.Duration
	// IdleTimeout is how long a server may be silent in the middle of an answer; zero is for ever.
	IdleTimeout time.Duration
	// Blobs reads the pictures of "blob:" URLs; nil leaves them out.
	Blobs Opener
	// Transport does the round trips; nil is one of its own, which dials for at most five seconds.
	Transport http.RoundTripper
	// Logger hears what a model couldn't do and, at debug level, what calls cost. Nil is silence.
	Logger *slog.Logger
}

// Provider is a provider.Provider. It is safe for concurrent use, and owns no goroutine.
type Provider struct {
	cfg    Config
	hosts  []*host
	http   *http.Client
	redact *secret.Redactor
	log    *slog.Logger
}

var _ provider.Provider = (*Provider)(nil)

// dialTimeout bounds connecting and, apart, the TLS handshake.
const dialTimeout = 5 * time.Second

// New checks the configuration; it doesn't connect. Its errors never repeat a URL, which may hold a password.
func New(cfg Config) (*Provider, error) {
	if len(cfg.Hosts) == 0 {
		return nil, errors.New("ollama: no host is configured")
	}
	if cfg.NumCtx < 0 || cfg.MaxConcurrent < 0 || cfg.FirstTokenTimeout < 0 || cfg.IdleTimeout < 0 {
		return nil, errors.New("ollama: num_ctx, max_concurrent and the timeouts must not be negative")
	}
	p := &Provider{cfg: cfg, log: cfg.Logger}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	rt := cfg.Transport
	if rt == nil {
		rt = newTransport()
	}
	secrets := []secret.String{cfg.APIKey}
	p.http = &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirected POST becomes a GET, and would carry the key elsewhere
	}}
	for i, text := range cfg.Hosts {
		h, err := parseHost(text)
		if err != nil {
			return nil, fmt.Errorf("ollama: host %d: %w", i+1, err)
		}
		secrets = append(secrets, h.secrets()...)
		h.connect(p.http, cfg.APIKey)
		if cfg.MaxConcurrent > 0 {
			h.slots = make(slots, cfg.MaxConcurrent)
		}
		p.hosts = append(p.hosts, h)
	}
	p.redact = secret.NewRedactor(secrets...)
	return p, nil
}

// newTransport never times out on headers: a server sends none while it loads a model. Compression is off because a proxy
// that compresses also holds the stream back.
func newTransport() *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         d.DialContext,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}

// CloseIdleConnections closes the connections that no call uses.
func (p *Provider) CloseIdleConnections() { p.http.CloseIdleConnections() }
