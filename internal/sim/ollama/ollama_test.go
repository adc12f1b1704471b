package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/internal/sim/pipe"
)

// start serves opt over loopback and returns the server, its address and the official client for it.
func start(t *testing.T, opt sim.Options) (*sim.Server, string, *api.Client) {
	t.Helper()
	s := sim.New(opt)
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	u, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s, h.URL, api.NewClient(u, h.Client())
}

// bubble serves opt on a pipe, for use inside a synctest bubble.
func bubble(t *testing.T, opt sim.Options) (*sim.Server, *api.Client) {
	t.Helper()
	s, l := sim.New(opt), pipe.Listen()
	s.Serve(l)
	tr := l.Transport()
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.Close()
	})
	return s, api.NewClient(&url.URL{Scheme: "http", Host: "ollama"}, &http.Client{Transport: tr})
}

type said struct {
	content, thinking string
	calls             []string
	last              api.ChatResponse
	lines             int
}

func chat(ctx context.Context, c *api.Client, req *api.ChatRequest) (said, error) {
	var out said
	err := c.Chat(ctx, req, func(r api.ChatResponse) error {
		out.lines++
		out.content += r.Message.Content
		out.thinking += r.Message.Thinking
		for _, call := range r.Message.ToolCalls {
			out.calls = append(out.calls, call.Function.Name+call.Function.Arguments.String())
		}
		out.last = r
		return nil
	})
	return out, err
}

func ask(model, text string) *api.ChatRequest {
	return &api.ChatRequest{Model: model, Messages: []api.Message{{Role: "user", Content: text}}}
}

func withTools(req *api.ChatRequest) *api.ChatRequest {
	req.Tools = api.Tools{{Type: "function", Function: api.ToolFunction{Name: "get_time"}}}
	return req
}

func TestTriggers(t *testing.T) {
	_, _, c := start(t, sim.Options{})
	whole := false
	tests := []struct {
		name     string
		req      *api.ChatRequest
		content  string
		thinking string
		calls    string
	}{
		{"stand-in", ask("tiny", "good morning"), "I am a stand-in: no language model is running here. You said: good morning", "", ""},
		{"hello", ask("tiny", "say /hello"), "Hello, I am a tiny scripted model.", "", ""},
		{"empty", ask("tiny", "/empty"), "", "", ""},
		{"think", ask("tiny", "/think"), "Thought about it.", "Let me think.", ""},
		{"think not", &api.ChatRequest{Model: "tiny", Messages: ask("", "/think").Messages, Think: &api.ThinkValue{Value: false}},
			"<think>Let me think.</think>Thought about it.", "", ""},
		{"open think", ask("tiny", "/openthink"), "", "On and on", ""},
		{"tools", withTools(ask("tiny", "/2tools")), "", "", `get_time{"tz":"UTC"} add{"a":1,"b":2}`},
		{"tools not given", ask("tiny", "/tool"), `<tool_call>{"name":"get_time","arguments":{"tz":"UTC"}}`, "", ""},
		{"whole", &api.ChatRequest{Model: "plain", Messages: ask("", "/hello").Messages, Stream: &whole},
			"Hello, I am a tiny scripted model.", "", ""},
		{"limit", &api.ChatRequest{Model: "tiny", Messages: ask("", "/long").Messages, Options: map[string]any{"num_predict": 3}},
			"one two three ", "", ""},
		{"tool result", &api.ChatRequest{Model: "tiny", Messages: []api.Message{{Role: "user", Content: "x"},
			{Role: "tool", Content: "12:00"}}}, "The tool said so!", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chat(t.Context(), c, tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if got.content != tt.content || got.thinking != tt.thinking || strings.Join(got.calls, " ") != tt.calls {
				t.Errorf("content %q thinking %q calls %q", got.content, got.thinking, got.calls)
			}
			if !got.last.Done || got.last.EvalCount == 0 || got.last.PromptEvalCount == 0 {
				t.Errorf("last line %+v", got.last)
			}
		})
	}
}

func TestEndsWithoutDone(t *testing.T) {
	replies := map[string]sim.Reply{
		"eof":  {Chunks: []string{"a", "b", "c"}, End: sim.EOF, After: 2},
		"cut":  {Chunks: []string{"a", "b", "c"}, End: sim.Cut, After: 2},
		"fail": {Chunks: []string{"a", "b", "c"}, End: sim.Fail, After: 2},
	}
	_, _, c := start(t, sim.Options{Answer: func(r sim.Request) sim.Reply { return replies[r.Last()] }})
	for name := range replies {
		got, err := chat(t.Context(), c, ask("tiny", name))
		if got.content != "ab" || got.last.Done {
			t.Errorf("%s: content %q, done %v", name, got.content, got.last.Done)
		}
		if (name == "fail") != (err != nil) {
			t.Errorf("%s: the official client says %v", name, err)
		}
	}
	_, _, c = start(t, sim.Options{Answer: func(sim.Request) sim.Reply { return sim.Reply{End: sim.Fail} }})
	_, err := chat(t.Context(), c, ask("tiny", "x"))
	if e, ok := errors.AsType[api.StatusError](err); !ok || e.StatusCode != 500 {
		t.Errorf("a crash before the first line: %v, want status 500", err)
	}
}

func TestOverflowDropsOldest(t *testing.T) {
	s, _, c := start(t, sim.Options{})
	long := strings.Repeat("x", 60)
	req := &api.ChatRequest{Model: "tiny", Options: map[string]any{"num_ctx": 100}, Messages: []api.Message{
		{Role: "system", Content: "be kind"}, {Role: "user", Content: long}, {Role: "assistant", Content: long},
		{Role: "user", Content: "end"},
	}}
	got, err := chat(t.Context(), c, req)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Chats()[0]; r.Dropped != 1 || r.PromptTokens != got.last.PromptEvalCount || r.PromptTokens > 100 {
		t.Errorf("dropped %d, prompt %d, told %d", r.Dropped, r.PromptTokens, got.last.PromptEvalCount)
	}
	req.Messages[3].Content = strings.Repeat("y", 200)
	if got, err = chat(t.Context(), c, req); err != nil || got.last.PromptEvalCount != 100 {
		t.Errorf("one message too large: prompt %d, %v; want exactly 100", got.last.PromptEvalCount, err)
	}
}

func TestLoadAndKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := bubble(t, sim.Options{Load: 20 * time.Second})
		begin := time.Now()
		took := func(req *api.ChatRequest) time.Duration {
			at := time.Now()
			if _, err := chat(t.Context(), c, req); err != nil {
				t.Fatal(err)
			}
			return time.Since(at)
		}
		if d := took(ask("tiny", "/hello")); d != 20*time.Second {
			t.Errorf("cold: %v", d)
		}
		if d := took(ask("tiny", "/hello")); d != 0 {
			t.Errorf("warm: %v", d)
		}
		other := ask("tiny", "/hello")
		other.Options = map[string]any{"num_ctx": 2048}
		other.KeepAlive = &api.Duration{Duration: time.Minute}
		if d := took(other); d != 20*time.Second {
			t.Errorf("another num_ctx: %v", d)
		}
		ps, err := c.ListRunning(t.Context())
		if err != nil || len(ps.Models) != 1 || ps.Models[0].ContextLength != 2048 {
			t.Errorf("ps %+v, %v", ps, err)
		}
		time.Sleep(61 * time.Second)
		if d := took(other); d != 20*time.Second {
			t.Errorf("after keep_alive: %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := chat(ctx, c, ask("plain", "/hello")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("impatient client: %v", err)
		}
		synctest.Wait()
		if d := took(ask("plain", "/hello")); d != 20*time.Second {
			t.Errorf("after an aborted load: %v", d)
		}
		left := s.Chats()[4]
		if left.Left.IsZero() || left.Left.Sub(left.At) != 5*time.Second {
			t.Errorf("left at %v after %v", left.Left, left.Left.Sub(begin))
		}
	})
}

func TestParallelWaitsWithoutHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := bubble(t, sim.Options{Answer: func(sim.Request) sim.Reply {
			return sim.Reply{Chunks: []string{"a", "b"}, Between: 10 * time.Second}
		}})
		begin := time.Now()
		done := make(chan time.Duration)
		for range 3 {
			go func() {
				_, _ = chat(t.Context(), c, ask("tiny", "x"))
				done <- time.Since(begin)
			}()
		}
		for i := range 3 {
			if d := <-done; d != time.Duration(i+1)*10*time.Second {
				t.Errorf("answer %d after %v", i, d)
			}
		}
	})
}

func TestQueueIsFullOnlyBehindALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := bubble(t, sim.Options{Load: time.Second, MaxQueue: 1, Parallel: 8})
		busy := make(chan bool)
		round := func() (n int) {
			for range 8 {
				go func() {
					_, err := chat(t.Context(), c, ask("tiny", "/hello"))
					e, ok := errors.AsType[api.StatusError](err)
					busy <- ok && e.StatusCode == http.StatusServiceUnavailable
				}()
			}
			for range 8 {
				if <-busy {
					n++
				}
			}
			return n
		}
		if n := round(); n != 6 {
			t.Errorf("cold: %d of 8 refused, want 6", n)
		}
		if n := round(); n != 0 {
			t.Errorf("warm: %d of 8 refused, want none", n)
		}
	})
}

func TestLeavingStopsTheWork(t *testing.T) {
	s, _, c := start(t, sim.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	_ = c.Chat(ctx, ask("tiny", "/long"), func(api.ChatResponse) error {
		cancel()
		return nil
	})
	err := s.WaitFor(t.Context(), func(rs []sim.Request) bool { return len(rs) == 1 && !rs[0].Left.IsZero() })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chat(t.Context(), c, ask("tiny", "/hello")); err != nil {
		t.Errorf("the slot wasn't given back: %v", err)
	}
}

func TestListsAndPing(t *testing.T) {
	_, _, locked := start(t, sim.Options{APIKey: "k"})
	if _, err := locked.List(t.Context()); err == nil {
		t.Error("no key was asked for")
	}
	_, base, c := start(t, sim.Options{})
	tags, err := c.List(t.Context())
	if err != nil || len(tags.Models) != 3 || tags.Models[0].Name != "tiny:latest" {
		t.Errorf("tags %+v, %v", tags, err)
	}
	shown, err := c.Show(t.Context(), &api.ShowRequest{Model: "tiny"})
	if err != nil || shown.ModelInfo["llama.context_length"] != 8192.0 || len(shown.Capabilities) != 3 {
		t.Errorf("show %+v, %v", shown, err)
	}
	if err := c.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := c.Version(t.Context()); err != nil || v != "0.17.4" {
		t.Errorf("version %q, %v", v, err)
	}
	resp, err := http.Get(base + "/api/chat")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET /api/chat: %d", resp.StatusCode)
	}
}

func TestFaults(t *testing.T) {
	s, _, c := start(t, sim.Options{})
	s.Faults().Next("/api/chat", fault.Fault{Status: 502, Body: "<html>bad gateway</html>"}, fault.Fault{Reset: true}, fault.Fault{})
	if _, err := chat(t.Context(), c, ask("tiny", "x")); err == nil {
		t.Error("502 not seen")
	}
	if _, err := chat(t.Context(), c, ask("tiny", "x")); err == nil {
		t.Error("reset not seen")
	}
	if _, err := chat(t.Context(), c, ask("tiny", "x")); err != nil {
		t.Error(err)
	}
	if rs := s.Chats(); len(rs) != 3 || rs[0].Status != 502 || len(rs[1].Raw) == 0 {
		t.Errorf("recorded %+v", rs)
	}
}
