package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport prepares one connection, and starts the command. end ends what the connection lives on; it may be called again.
func (s *Server) transport() (t mcp.Transport, end func(), err error) {
	if len(s.cfg.Command) > 0 {
		p, err := s.start()
		if err != nil {
			return nil, nil, err
		}
		return &mcp.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}, p.end, nil
	}
	rt := s.cfg.Transport
	if rt == nil {
		rt = http.DefaultTransport
	}
	life, end := context.WithCancel(context.Background())
	return &mcp.StreamableClientTransport{
		Endpoint:     s.cfg.URL.Reveal(),
		HTTPClient:   &http.Client{Transport: capped{rt, life}, CheckRedirect: sameHost},
		MaxEventSize: maxMessage,
	}, end, nil
}

// sameHost lets a server redirect to itself, but never carry a key or an answer elsewhere.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > 3 || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return errors.New("the server redirects elsewhere")
	}
	return nil
}

// capped ends every round trip with the connection's life, and bounds the bodies that come back, but for streams, whose events the
// transport bounds.
type capped struct {
	next http.RoundTripper
	life context.Context
}

// RoundTrip is next's.
func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(c.life, cancel)
	resp, err := c.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, left: maxMessage, free: func() { stop(); cancel() }}
	b.stream = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	resp.Body = b
	return resp, nil
}

type body struct {
	io.ReadCloser
	left   int
	stream bool
	free   func()
}

// Read fails beyond the limit.
func (b *body) Read(p []byte) (int, error) {
	if b.stream {
		return b.ReadCloser.Read(p)
	}
	if b.left <= 0 {
		return 0, errors.New("mcp: the answer is too large")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Close lets go of the connection's life too.
func (b *body) Close() error {
	defer b.free()
	return b.ReadCloser.Close()
}
