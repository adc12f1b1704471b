package ollama

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// Request is one call the server got, and what became of it.
type Request struct {
	N            int    // from 1, in order of arrival
	Method, Path string // "POST", "/api/chat"
	Header       http.Header
	Raw          []byte          // the body as it came
	Chat         api.ChatRequest // the body of an accepted or refused chat, as far as it could be decoded
	At           time.Time
	Ended        time.Time // zero while it is being answered
	Left         time.Time // when the client disconnected before the end; else zero
	Status       int       // zero until the answer begins
	Lines        int       // lines of a stream written so far
	PromptTokens int       // of a chat, after the server dropped what didn't fit
	Dropped      int       // messages the server left out of the prompt without a word
}

// Last returns the content of the last user message of a chat, or "".
func (r Request) Last() string {
	for _, m := range slices.Backward(r.Chat.Messages) {
		if m.Role == "user" {
			return m.Content
		}
	}
	return ""
}

// Requests returns copies of all calls so far, in order of arrival.
func (s *Server) Requests() []Request { return s.rec.all() }

// Chats returns the calls of /api/chat so far, in order of arrival.
func (s *Server) Chats() []Request {
	return slices.DeleteFunc(s.rec.all(), func(r Request) bool { return r.Path != "/api/chat" })
}

// WaitFor returns when enough holds for the calls so far, which it looks at again after each change. It returns the error
// of ctx if that ends first.
func (s *Server) WaitFor(ctx context.Context, enough func([]Request) bool) error {
	for {
		changed := s.rec.wait()
		if enough(s.rec.all()) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// recorder keeps the calls and wakes those who wait for a change.
type recorder struct {
	mu      sync.Mutex
	calls   []*Request
	changed chan struct{}
}

type callKey struct{}

func (r *recorder) all() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Request, len(r.calls))
	for i, c := range r.calls {
		out[i] = *c
	}
	return out
}

func (r *recorder) wait() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// update changes the record of the call that ctx belongs to, and returns the changed copy.
func (r *recorder) update(ctx context.Context, change func(*Request)) Request {
	c, ok := ctx.Value(callKey{}).(*Request)
	if !ok {
		return Request{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	change(c)
	close(r.changed)
	r.changed = make(chan struct{})
	return *c
}

func (r *recorder) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		c := &Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Raw: raw, At: time.Now()}
		ctx := context.WithValue(req.Context(), callKey{}, c)
		r.add(ctx, c)
		req = req.WithContext(ctx)
		req.Body = io.NopCloser(bytes.NewReader(raw))
		defer r.end(ctx)
		next.ServeHTTP(&statusWriter{ResponseWriter: w, note: func(status int) {
			r.update(ctx, func(c *Request) { c.Status = status })
		}}, req)
	})
}

func (r *recorder) add(ctx context.Context, c *Request) {
	r.update(ctx, func(*Request) {
		c.N = len(r.calls) + 1
		r.calls = append(r.calls, c)
	})
}

func (r *recorder) end(ctx context.Context) {
	r.update(ctx, func(c *Request) {
		if !c.Ended.IsZero() {
			return // the whole answer was written
		}
		c.Ended = time.Now()
		if ctx.Err() != nil {
			c.Left = c.Ended
		}
	})
}

// finished notes that the whole answer is written: a client that goes now doesn't leave early.
func (r *recorder) finished(ctx context.Context) {
	r.update(ctx, func(c *Request) { c.Ended = time.Now() })
}

// statusWriter notes the status that is sent.
type statusWriter struct {
	http.ResponseWriter
	note func(int)
	sent bool
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.sent {
		w.sent = true
		w.note(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach Flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
