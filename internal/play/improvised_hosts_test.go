package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/transform/budget"
	"orebot/provider/ollama"
)

// rack has the model hosts a and b, behind the daemon's own provider: what a chat asks either of them is a call of the play's model.
type rack struct {
	m *model

	mu     sync.Mutex
	cut    map[string]chan struct{} // by host that is up: closed once it goes down
	silent bool                     // there was a moment in which no host was up
}

func newRack(m *model) *rack {
	return &rack{m: m, cut: map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}}
}

// turn lets a host go down, or come back.
func (r *rack) turn(host string) (down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if up, ok := r.cut[host]; ok {
		close(up)
		delete(r.cut, host)
		r.silent = r.silent || len(r.cut) == 0
		return true
	}
	r.cut[host] = make(chan struct{})
	return false
}

// allUp lets every host come back.
func (r *rack) allUp() {
	for _, host := range []string{"a", "b"} {
		if r.line(host) == nil {
			r.turn(host)
		}
	}
}

// line returns what is closed once a host goes down; nil where it is.
func (r *rack) line(host string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut[host]
}

func (r *rack) wasSilent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent
}

// provider is what one life of the process asks.
func (r *rack) provider(l *life, slots int) (provider.Provider, error) {
	return ollama.New(ollama.Config{Hosts: []string{"http://a", "http://b"}, MaxConcurrent: slots, NumCtx: 8192, Transport: cable{r, l.store.dead}})
}

// cable is the way from one life of the process to the hosts.
type cable struct {
	*rack
	dead <-chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (c cable) RoundTrip(req *http.Request) (*http.Response, error) {
	cut := c.line(req.URL.Host)
	if cut == nil {
		return nil, syscall.ECONNREFUSED
	}
	switch req.URL.Path {
	case "/api/chat":
		return c.chat(req, cut)
	case "/api/show":
		return say(req, http.StatusOK, `{"capabilities":["completion","tools","thinking"],"model_info":{}}`), nil
	case "/api/ps", "/api/tags":
		return say(req, http.StatusOK, `{"models":[]}`), nil
	}
	return say(req, http.StatusOK, `{"version":"0.17.4"}`), nil
}

func say(req *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

// chat makes a call of what a request asks, and answers with the first line that the play has for it.
func (c cable) chat(req *http.Request, cut <-chan struct{}) (*http.Response, error) {
	var chat api.ChatRequest
	if err := json.NewDecoder(req.Body).Decode(&chat); err != nil {
		return say(req, http.StatusBadRequest, `{"error":"no JSON"}`), nil
	}
	b := &answering{of: c, req: req, cut: cut, name: chat.Model, c: &call{turns: turnsOf(chat.Messages), lines: make(chan reply)}}
	if len(chat.Messages) == 0 || b.c.read() == "user "+session.Harmless {
		return say(req, http.StatusOK, `{"message":{"role":"assistant","content":"OK."},"done":true,"done_reason":"stop"}`), nil
	}
	c.m.mu.Lock()
	c.m.calls = append(c.m.calls, b.c)
	c.m.ring()
	c.m.mu.Unlock()
	err := b.next()
	if status, text := refusalOf(err); status != 0 {
		c.m.drop(b.c)
		return say(req, status, fmt.Sprintf(`{"error":%q}`, text)), nil
	}
	if err != nil && b.left.Len() == 0 {
		c.m.drop(b.c)
		return nil, err
	}
	b.err = err
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: b, Request: req}, nil
}

// refusalOf is how a server says what a play's line lets fail; 0: it doesn't say, the connection ends.
func refusalOf(err error) (status int, text string) {
	switch provider.KindOf(err) {
	case provider.KindBusy:
		return http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded"
	case provider.KindModelMissing:
		return http.StatusNotFound, "model 'm' not found"
	case provider.KindRefused:
		return http.StatusBadRequest, "this is refused"
	}
	return 0, ""
}

// turnsOf is what a request shows the model.
func turnsOf(messages []api.Message) (turns []ledger.Turn) {
	for _, m := range messages {
		t := ledger.Turn{Role: ledger.Role(m.Role)}
		if m.Content != "" {
			t.Artifacts = append(t.Artifacts, artifact.Text{Content: m.Content})
		}
		for _, tc := range m.ToolCalls {
			t.Artifacts = append(t.Artifacts, artifact.ToolCall{Name: tc.Function.Name})
		}
		turns = append(turns, t)
	}
	return turns
}

// answering is the body of an answer: the play's lines, as the server writes them.
type answering struct {
	of   cable
	req  *http.Request
	cut  <-chan struct{}
	name string // of the model
	c    *call
	left bytes.Buffer // written, and not read yet
	err  error        // what comes behind that, io.EOF for the end; nil: another line
}

// Read implements io.Reader.
func (b *answering) Read(p []byte) (int, error) {
	for b.left.Len() == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.err = b.next()
	}
	return b.left.Read(p)
}

// Close implements io.Closer.
func (b *answering) Close() error {
	b.of.m.drop(b.c)
	return nil
}

// next waits for a line and writes what it says. The error is what follows.
func (b *answering) next() error {
	select {
	case r := <-b.c.lines:
		for _, a := range r.arts {
			b.write(a)
		}
		switch {
		case r.bang:
			return syscall.ECONNRESET
		case r.more:
			return nil
		case provider.KindOf(r.err) == provider.KindIncomplete:
			return io.ErrUnexpectedEOF
		case r.err != nil && provider.KindOf(r.err) != provider.KindEmpty:
			return r.err
		}
		b.over(r)
		return io.EOF
	case <-b.cut:
		return syscall.ECONNRESET
	case <-b.of.dead:
		return errors.New("play: the process is dead")
	case <-b.req.Context().Done():
		return b.req.Context().Err()
	}
}

func (b *answering) write(a artifact.Artifact) {
	m := map[string]any{"role": "assistant", "content": ""}
	switch a := a.(type) {
	case artifact.TextDelta:
		m["content"] = a.Content
	case artifact.ReasoningDelta:
		m["thinking"] = a.Content
	case artifact.ToolCall:
		m["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": a.Name, "arguments": json.RawMessage(a.Arguments)}}}
	default:
		return
	}
	b.put(map[string]any{"model": b.name, "message": m, "done": false})
}

// over writes the last line.
func (b *answering) over(r reply) {
	reason := "stop"
	for _, a := range r.arts {
		if f, ok := a.(artifact.Finish); ok {
			reason = f.Reason
		}
	}
	b.put(map[string]any{"model": b.name, "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
		"prompt_eval_count": budget.EstimateAll(b.c.turns), "eval_count": 5})
}

func (b *answering) put(line map[string]any) {
	_ = json.NewEncoder(&b.left).Encode(line) // a buffer takes everything
}
