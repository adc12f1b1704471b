package ollama_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	sim "orebot/internal/sim/ollama"
	"orebot/internal/sim/pipe"
	"orebot/provider/ollama"
)

// serve starts a simulator over loopback and a provider that asks it.
func serve(t *testing.T, opt sim.Options, change ...func(*ollama.Config)) (*sim.Server, *ollama.Provider) {
	t.Helper()
	s := sim.New(opt)
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return s, provide(t, append([]func(*ollama.Config){func(c *ollama.Config) { c.Hosts = []string{h.URL} }}, change...)...)
}

// bubble is serve on a pipe, for the inside of a synctest bubble.
func bubble(t *testing.T, opt sim.Options, change ...func(*ollama.Config)) (*sim.Server, *ollama.Provider) {
	t.Helper()
	s, l := sim.New(opt), pipe.Listen()
	s.Serve(l)
	p := provide(t, append([]func(*ollama.Config){func(c *ollama.Config) {
		c.Hosts, c.Transport = []string{"http://ollama"}, l.Transport()
	}}, change...)...)
	t.Cleanup(func() {
		p.CloseIdleConnections()
		s.Close()
	})
	return s, p
}

func provide(t *testing.T, change ...func(*ollama.Config)) *ollama.Provider {
	t.Helper()
	cfg := ollama.Config{KeepAlive: 30 * time.Minute, NumCtx: 4096, FirstTokenTimeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute}
	for _, f := range change {
		f(&cfg)
	}
	p, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

func turn(role ledger.Role, as ...artifact.Artifact) ledger.Turn {
	return ledger.Turn{Role: role, Artifacts: as}
}

func user(text string) ledger.Turn { return turn(ledger.RoleUser, artifact.Text{Content: text}) }

func state(turns ...ledger.Turn) ledger.State { return ledger.Prepend(nil, turns...) }

// heard is what came over the channel: the kinds in order (runs of one kind once), and the deltas put together.
type heard struct {
	kinds           []string
	text, reasoning string
	calls           []artifact.ToolCall
	usage           artifact.Usage
	finish          string
}

func (h *heard) take(a artifact.Artifact) {
	if n := len(h.kinds); n == 0 || h.kinds[n-1] != a.Kind() {
		h.kinds = append(h.kinds, a.Kind())
	}
	switch a := a.(type) {
	case artifact.TextDelta:
		h.text += a.Content
	case artifact.ReasoningDelta:
		h.reasoning += a.Content
	case artifact.ToolCall:
		h.calls = append(h.calls, a)
	case artifact.Usage:
		h.usage = a
	case provider.Finish:
		h.finish = a.Reason
	}
}

// invoke asks and collects all that comes until Invoke returns.
func invoke(ctx context.Context, p provider.Provider, st ledger.State, spec models.Spec, opts ...provider.InvokeOption) (heard, error) {
	ch, done := make(chan artifact.Artifact), make(chan error, 1)
	go func() { done <- p.Invoke(ctx, st, spec, ch, opts...) }()
	var h heard
	for {
		select {
		case a := <-ch:
			h.take(a)
		case err := <-done:
			return h, err
		}
	}
}

func ask(t *testing.T, p provider.Provider, text string, spec models.Spec, opts ...provider.InvokeOption) (heard, error) {
	t.Helper()
	if spec.Model == "" {
		spec.Model = "tiny"
	}
	return invoke(t.Context(), p, state(user(text)), spec, opts...)
}

// wantError checks that err is a *provider.Error as wanted, that some artifact was or wasn't sent, and its cause's text.
func wantError(t *testing.T, err error, kind provider.Kind, partial bool, text string) {
	t.Helper()
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case !ok:
		t.Errorf("got %v, want a *provider.Error of kind %v", err, kind)
	case e.Kind != kind || e.Partial != partial || !strings.Contains(err.Error(), text):
		t.Errorf("got %v (kind %v, partial %v), want kind %v, partial %v, text %q", err, e.Kind, e.Partial, kind, partial, text)
	}
}

func wantKinds(t *testing.T, h heard, kinds ...string) {
	t.Helper()
	if !slices.Equal(h.kinds, kinds) {
		t.Errorf("artifacts %v, want %v", h.kinds, kinds)
	}
}

// hanging answers a chat with a body that never ends.
type hanging struct{ body string }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/chat" {
		return &http.Response{StatusCode: 404, Body: http.NoBody}, nil
	}
	never := readerFunc(func([]byte) (int, error) {
		<-r.Context().Done()
		return 0, r.Context().Err()
	})
	return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(h.body), never))}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func closedPipe() http.RoundTripper {
	l := pipe.Listen()
	_ = l.Close()
	return l.Transport()
}
