package mcp

import (
	"bytes"
	"context"
	"encoding/json"
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
		out := &messages{cutter: newCutter(p.out, s.cfg.MaxMessage), Closer: p.out, junk: s.said()}
		return &mcp.IOTransport{Reader: out, Writer: p.in, MaxLineLength: 2 * s.cfg.MaxMessage}, p.end, nil
	}
	rt := s.cfg.Transport
	if rt == nil {
		rt = http.DefaultTransport
	}
	life, end := context.WithCancel(context.Background())
	return &mcp.StreamableClientTransport{
		Endpoint:     s.cfg.URL.Reveal(),
		HTTPClient:   &http.Client{Transport: capped{rt, life, s.cfg.MaxMessage}, CheckRedirect: sameHost},
		MaxEventSize: 2 * s.cfg.MaxMessage,
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

// capped ends every round trip with the connection's life, and bounds the answers that come back: in place of one that is too large
// stands its tooLarge.
type capped struct {
	next http.RoundTripper
	life context.Context
	max  int // bytes of an answer
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
	b := &body{Closer: resp.Body, free: func() { stop(); cancel() }}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		b.Reader = &events{cutter: newCutter(resp.Body, c.max)}
	} else {
		b.Reader = &whole{from: resp.Body, max: c.max, id: idOf(r)}
	}
	resp.Body = b
	return resp, nil
}

// idOf returns the id of the JSON-RPC request that an HTTP request carries; nil where it carries none.
func idOf(r *http.Request) []byte {
	if r.GetBody == nil {
		return nil
	}
	b, err := r.GetBody()
	if err != nil {
		return nil
	}
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.NewDecoder(b).Decode(&m)
	return m.ID
}

type body struct {
	io.Reader
	io.Closer
	free func()
}

// Close lets go of the connection's life too.
func (b *body) Close() error {
	defer b.free()
	return b.Closer.Close()
}

// whole reads an answer to its end before it hands on anything of it.
type whole struct {
	from io.Reader
	max  int
	id   []byte // of the request
	read *bytes.Reader
	err  error
}

// Read fails where the answer is too large and answers no request, or breaks off.
func (w *whole) Read(p []byte) (int, error) {
	if w.read == nil {
		all, err := io.ReadAll(io.LimitReader(w.from, int64(w.max)+1))
		switch {
		case err == nil && len(all) <= w.max:
		case err == nil && w.id != nil:
			all = tooLarge(w.id)
		case err == nil:
			all, w.err = nil, errors.New("mcp: the answer is too large")
		default:
			w.err = err
		}
		w.read = bytes.NewReader(all)
	}
	n, err := w.read.Read(p)
	if err != nil && w.err != nil {
		err = w.err
	}
	return n, err
}
