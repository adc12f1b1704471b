// Package fault scripts what goes wrong in the next calls of a simulated method: an error answer, silence, a cut
// connection, or the cruel ones, where the server did what it was asked and the client never learns of it.
package fault

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Fault is what happens in place of one plain call. The zero Fault lets the call through: it serves to skip calls.
type Fault struct {
	Status int           // answers with this status and Body, and does nothing
	Body   string        // the answer's body; JSON unless it begins with '<'
	Retry  time.Duration // sets Retry-After, in whole seconds
	Hang   bool          // says nothing until the client gives up
	Reset  bool          // cuts the connection and does nothing
	Cut    bool          // does it, then cuts the connection before the answer
	CutDo  time.Duration // cuts the connection, and does it this much later
}

// Script holds the faults to come, by method. The zero Script is ready; it is safe for concurrent use.
type Script struct {
	mu   sync.Mutex
	next map[string][]Fault
	late sync.WaitGroup
}

// Next appends faults for the coming calls of method; the method "*" stands for any method without faults of its own.
func (s *Script) Next(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = map[string][]Fault{}
	}
	s.next[method] = append(s.next[method], faults...)
}

// Clear drops every fault still to come.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = nil
}

// Wait returns when every call that was put off with CutDo is done.
func (s *Script) Wait() { s.late.Wait() }

// Wrap returns h with the scripted faults in front of it; method names the call that a request makes.
func (s *Script) Wrap(method func(*http.Request) string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := s.take(method(r))
		if !ok {
			h.ServeHTTP(w, r)
			return
		}
		s.apply(f, w, r, h)
	})
}

func (s *Script) take(method string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range []string{method, "*"} {
		if q := s.next[m]; len(q) > 0 {
			s.next[m] = q[1:]
			return q[0], true
		}
	}
	return Fault{}, false
}

func (s *Script) apply(f Fault, w http.ResponseWriter, r *http.Request, h http.Handler) {
	body, _ := io.ReadAll(r.Body) // as a real server would have, so that the client's write succeeds
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Reset:
		panic(http.ErrAbortHandler)
	case f.Cut:
		h.ServeHTTP(discard{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case f.CutDo > 0:
		s.later(f.CutDo, r, body, h)
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		f.answer(w)
	default:
		h.ServeHTTP(w, r)
	}
}

func (s *Script) later(d time.Duration, r *http.Request, body []byte, h http.Handler) {
	late := r.Clone(context.WithoutCancel(r.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	s.late.Go(func() {
		time.Sleep(d)
		h.ServeHTTP(discard{http.Header{}}, late)
	})
}

func (f Fault) answer(w http.ResponseWriter) {
	kind := "application/json; charset=utf-8"
	if len(f.Body) > 0 && f.Body[0] == '<' {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	if f.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.Retry/time.Second)))
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body)
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
