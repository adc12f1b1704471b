package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest request: a file of 50 MB and what goes with it.
const maxBody = 51 << 20

// Call is one request for a method as it arrived, refused, failed or served.
type Call struct {
	Method string
	At     time.Duration     // since New
	Params map[string]string // as sent; a file's field holds its name
	Error  string            // the refusal's description; empty when served, or when a fault swallowed the call
}

// Handler serves the API with the faults in front of it.
func (s *Server) Handler() http.Handler {
	served := s.Faults.Wrap(func(r *http.Request) string { return requestOf(r).method }, http.HandlerFunc(s.serve))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			s.refuse(w, nil, errRestart)
			return
		}
		defer s.busy.Done()
		req, err := s.accept(w, r)
		if err != nil {
			s.refuse(w, req, err)
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), requestKey{}, req))
		defer cancel()
		defer context.AfterFunc(s.alive, cancel)()
		served.ServeHTTP(w, r.WithContext(ctx))
	})
}

// request is a call on its way through the server.
type request struct {
	method string // canonical, or "file"
	params params
	path   string // of a file
	call   int    // index into calls, -1 for files
}

type requestKey struct{}

func requestOf(r *http.Request) *request {
	req, _ := r.Context().Value(requestKey{}).(*request)
	return req
}

var (
	pathShape  = regexp.MustCompile(`^/(file/)?bot([^/]+)/(.+)$`)
	tokenShape = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
)

// accept takes the request apart, logs it and checks its token.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (*request, error) {
	m := pathShape.FindStringSubmatch(r.URL.Path)
	if m == nil || !tokenShape.MatchString(m[2]) || m[1] == "" && strings.Contains(m[3], "/") {
		return nil, &apiError{code: http.StatusNotFound, text: "Not Found"}
	}
	req := &request{method: "file", path: m[3], call: -1}
	var err error
	if m[1] == "" {
		req.method, req.path = canonical(m[3]), ""
		req.params, err = readParams(w, r)
		req.call = s.logCall(req)
	}
	if m[2] != s.opts.Token || s.isRevoked() {
		err = &apiError{code: http.StatusUnauthorized, text: "Unauthorized"}
	}
	return req, err
}

func (s *Server) isRevoked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revoked
}

func (s *Server) logCall(req *request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Method: req.method, At: time.Since(s.start), Params: req.params.shown()})
	s.touch()
	return len(s.calls) - 1
}

// Calls returns the calls of a method in the order of their arrival; the empty name means all of them.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Call) bool {
		return method != "" && !strings.EqualFold(c.Method, method)
	})
}

// Refused counts the calls that were refused, by description.
func (s *Server) Refused() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]int, len(s.refused))
	for k, v := range s.refused {
		out[k] = v
	}
	return out
}

// serve runs one accepted request. A fault may call it late, when the handler is long done: it counts itself in.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	req := requestOf(r)
	if !s.enter() {
		s.refuse(w, req, errRestart)
		return
	}
	defer s.busy.Done()
	if req.method == "file" {
		s.serveFile(w, req)
		return
	}
	m, ok := methods[strings.ToLower(req.method)]
	if !ok {
		s.refuse(w, req, &apiError{code: http.StatusNotFound, text: "Not Found: method not found"})
		return
	}
	result, err := m.run(s, r.Context(), req.params)
	if err != nil {
		s.refuse(w, req, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func (s *Server) refuse(w http.ResponseWriter, req *request, err error) {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{code: http.StatusBadRequest, text: "Bad Request: " + err.Error()}
	}
	s.noteRefusal(req, e)
	body := map[string]any{"ok": false, "error_code": e.code, "description": e.text}
	if e.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retry))
		body["parameters"] = map[string]any{"retry_after": e.retry}
	}
	if e.migrated != 0 {
		body["parameters"] = map[string]any{"migrate_to_chat_id": e.migrated}
	}
	writeJSON(w, e.code, body)
}

func (s *Server) noteRefusal(req *request, e *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[e.text]++
	if req != nil && req.call >= 0 {
		s.calls[req.call].Error = e.text
	}
	s.touch()
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // every value is made of plain data
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left is its own affair
}
