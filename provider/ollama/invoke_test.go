package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

var clock = provider.Tool{Name: "get_time", Description: "tells the time",
	Parameters: json.RawMessage(`{"type":"object","properties":{"tz":{"type":"string","pattern":"^[A-Z]+$"}},"required":["tz"]}`)}

func TestAnswers(t *testing.T) {
	_, p := serve(t, sim.Options{})
	tests := []struct {
		ask             string
		spec            models.Spec
		text, reasoning string
		kinds           string
	}{
		{"/hello", models.Spec{}, "Hello, I am a tiny scripted model.", "", "text_delta usage"},
		{"/emoji", models.Spec{}, "Grüße 👋🏽 你好", "", "text_delta usage"},
		{"/think", models.Spec{}, "Thought about it.", "Let me think.", "reasoning_delta text_delta usage"},
		{"/think", models.Spec{Think: "on"}, "Thought about it.", "Let me think.", "reasoning_delta text_delta usage"},
		{"/think", models.Spec{Think: "off"}, "Thought about it.", "Let me think.", "reasoning_delta text_delta usage"},
		{"/think", models.Spec{Model: "plain"}, "Thought about it.", "Let me think.", "reasoning_delta text_delta usage"},
		{"/long", models.Spec{MaxTokens: 3}, "one two three ", "", "text_delta usage finish"},
	}
	for _, tt := range tests {
		got, err := ask(t, p, tt.ask, tt.spec)
		if err != nil || got.text != tt.text || got.reasoning != tt.reasoning {
			t.Errorf("%s %+v: text %q, reasoning %q, %v", tt.ask, tt.spec, got.text, got.reasoning, err)
		}
		wantKinds(t, got, strings.Fields(tt.kinds)...)
		if u := got.usage; u.PromptTokens == 0 || u.CompletionTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
			t.Errorf("%s: %+v", tt.ask, u)
		}
	}
}

func TestToolCallsComeWholeAndInOrder(t *testing.T) {
	_, p := serve(t, sim.Options{})
	got, err := ask(t, p, "/saytool", models.Spec{}, provider.WithTools(clock))
	if err != nil || got.text != "Let me look." || len(got.calls) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	wantKinds(t, got, "text_delta", "tool_call", "usage")
	got, err = ask(t, p, "/2tools", models.Spec{}, provider.WithTools(clock))
	if err != nil || len(got.calls) != 2 || got.calls[0].ID == got.calls[1].ID || got.calls[1].Arguments != `{"a":1,"b":2}` {
		t.Errorf("%+v, %v", got.calls, err)
	}
}

func TestCallsWithoutIDGetOne(t *testing.T) {
	const body = `{"created_at":"2026-01-01T00:00:00Z","message":{"tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},` +
		`{"function":{"name":""}},{"function":{"name":"b"}}]},"done":true}`
	_, p := serve(t, sim.Options{Answer: func(sim.Request) sim.Reply { return sim.Reply{Raw: &sim.Raw{Status: 200, Body: body}} }})
	got, err := ask(t, p, "x", models.Spec{})
	if err != nil || len(got.calls) != 2 || got.calls[0].ID == "" || got.calls[0].ID == got.calls[1].ID || got.calls[1].Arguments != "{}" {
		t.Errorf("%+v, %v", got.calls, err)
	}
}

// Report 69: num_ctx and num_predict stand in every request, and nothing is cut or shifted silently.
func TestEveryRequestIsExplicit(t *testing.T) {
	s, p := serve(t, sim.Options{}, func(c *ollama.Config) { c.Options = map[string]any{"top_k": 7, "temperature": 0.5} })
	temperature, seed := 0.0, 0
	spec := models.Spec{Temperature: &temperature, Seed: &seed, Stop: []string{"STOP"}, Options: map[string]any{"min_p": 0.1}}
	if _, err := ask(t, p, "/hello", spec); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, p, "/hello", models.Spec{NumCtx: 2048, MaxTokens: 99}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`"options":{"min_p":0.1,"num_ctx":4096,"num_predict":4096,"seed":0,"stop":["STOP"],"temperature":0,"top_k":7}`,
		`"options":{"num_ctx":2048,"num_predict":99,"temperature":0.5,"top_k":7}`,
	}
	for i, r := range s.Chats() {
		raw := string(r.Raw)
		for _, part := range []string{want[i], `"truncate":false`, `"shift":false`, `"keep_alive":"30m0s"`} {
			if !strings.Contains(raw, part) {
				t.Errorf("request %d lacks %s: %s", i, part, raw)
			}
		}
		if strings.Contains(raw, `"think"`) || strings.Contains(raw, `"tools"`) {
			t.Errorf("request %d: %s", i, raw)
		}
	}
}

func TestSchemasGoUncutAndBadOnesAreReplaced(t *testing.T) {
	s, p := serve(t, sim.Options{})
	bad := provider.Tool{Name: "odd", Parameters: json.RawMessage(`{"properties":{"x":true}}`)}
	if _, err := ask(t, p, "/hello", models.Spec{}, provider.WithTools(clock, bad)); err != nil {
		t.Fatal(err)
	}
	raw := string(s.Chats()[0].Raw)
	if !strings.Contains(raw, `"pattern":"^[A-Z]+$"`) || !strings.Contains(raw, `"name":"odd","parameters":{"type":"object","properties":{}}`) {
		t.Error(raw)
	}
}

func TestNothingToAskIsRefusedHere(t *testing.T) {
	s, p := serve(t, sim.Options{})
	empty := []ledger.State{nil, state(), state(turn(ledger.RoleSystem, artifact.Text{Content: "be kind"})), state(user(" \n")),
		state(turn(ledger.RoleUser, artifact.Image{URL: "https://example.org/a.png"}))}
	for _, st := range empty {
		_, err := invoke(t.Context(), p, st, models.Spec{Model: "tiny"})
		wantError(t, err, provider.KindRefused, false, "nothing to answer")
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

// Report 74: a refusal of tools, thinking, a level or pictures is learned, and costs one more call, once.
func TestLearnsWhatAModelCannotDo(t *testing.T) {
	s, p := serve(t, sim.Options{})
	image := turn(ledger.RoleUser, artifact.Text{Content: "what is it? /hello"}, artifact.Image{URL: "data:image/png;base64,aGk="})
	// With /api/show broken, the refusals teach; each costs one more chat, once.
	for _, c := range []struct {
		name  string
		st    ledger.State
		spec  models.Spec
		opts  []provider.InvokeOption
		chats int
	}{
		{"tools", state(user("/hello")), models.Spec{Model: "plain"}, []provider.InvokeOption{provider.WithTools(clock)}, 2},
		{"think", state(user("/hello")), models.Spec{Model: "plain", Think: "high"}, nil, 2},
		{"levels", state(user("/think")), models.Spec{Model: "tiny", Think: "high"}, nil, 2},
		{"images", state(image), models.Spec{Model: "plain"}, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, want := range []int{c.chats, 1} {
				s.Faults().Clear()
				s.Faults().Next("/api/show", fault.Fault{Status: 500}, fault.Fault{Status: 500})
				before := len(s.Chats())
				got, err := invoke(t.Context(), p, c.st, c.spec, c.opts...)
				if n := len(s.Chats()) - before; err != nil || got.text == "" || n != want {
					t.Errorf("%d chats, want %d; %q, %v", n, want, got.text, err)
				}
			}
		})
	}
}

func TestAsksAboutAModelFirstWhereItMatters(t *testing.T) {
	s, p := serve(t, sim.Options{})
	for range 2 {
		if _, err := ask(t, p, "/hello", models.Spec{Model: "plain", Think: "high"}, provider.WithTools(clock)); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, r := range s.Requests() {
		paths = append(paths, r.Path)
	}
	if got := strings.Join(paths, " "); got != "/api/show /api/chat /api/chat" {
		t.Errorf("requests %s", got)
	}
}

// Report 66: the server feels a stop.
func TestCancelClosesTheConnection(t *testing.T) {
	s, p := serve(t, sim.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ch, done := make(chan artifact.Artifact), make(chan error, 1)
	go func() { done <- p.Invoke(ctx, state(user("/long")), models.Spec{Model: "tiny"}, ch) }()
	<-ch
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.WaitFor(t.Context(), func(rs []sim.Request) bool { return !rs[len(rs)-1].Left.IsZero() }); err != nil {
		t.Error(err)
	}
	if _, err := invoke(ctx, p, state(user("x")), models.Spec{Model: "tiny"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call under an ended context: %v", err)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	s, p := serve(t, sim.Options{})
	for range 5 {
		if _, err := ask(t, p, "/hello", models.Spec{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Chats() {
		if !r.Left.IsZero() {
			t.Error("a complete answer was counted as left early")
		}
	}
}

func TestFailover(t *testing.T) {
	live := sim.New(sim.Options{})
	_, down := serve(t, sim.Options{}, func(c *ollama.Config) { c.Hosts = []string{"127.0.0.1:1", "127.0.0.1:2"} })
	_, err := ask(t, down, "x", models.Spec{})
	wantError(t, err, provider.KindUnreachable, false, "127.0.0.1:2")
	s, p := serve(t, sim.Options{}, func(c *ollama.Config) { c.Hosts = append([]string{"127.0.0.1:1"}, c.Hosts...) })
	for range 2 {
		if got, err := ask(t, p, "/hello", models.Spec{}); err != nil || got.text == "" {
			t.Fatal(err)
		}
	}
	s.Faults().Next("/api/chat", fault.Fault{Reset: true})
	_, err = ask(t, p, "/hello", models.Spec{})
	wantError(t, err, provider.KindIncomplete, false, "")
	if len(live.Requests()) != 0 {
		t.Error("a host that isn't configured was asked")
	}
}

func TestSecretsStayOut(t *testing.T) {
	const key, password = "sk-very-secret", "hunter22"
	echo := fault.Fault{Status: 400, Body: `{"error":"bad key ` + key + ` for ` + password + `"}`}
	s, p := serve(t, sim.Options{}, func(c *ollama.Config) {
		c.APIKey = secret.New(key)
		c.Hosts[0] = strings.Replace(c.Hosts[0], "http://", "http://me:"+password+"@", 1)
	})
	s.Faults().Next("*", echo, echo, fault.Fault{Reset: true}, echo, echo)
	_, chat := ask(t, p, "x", models.Spec{})
	_, cut := ask(t, p, "x", models.Spec{})
	_, list := p.Models(t.Context())
	ping := p.Ping(t.Context())
	_, down := ask(t, provide(t, func(c *ollama.Config) { c.Hosts = []string{"http://me:" + password + "@127.0.0.1:1"} }), "x", models.Spec{})
	_, config := ollama.New(ollama.Config{Hosts: []string{"http://me:" + password + "@h:port"}})
	for i, err := range []error{chat, cut, list, ping, down, config} {
		if err == nil {
			t.Errorf("%d: no error", i)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := e.Error(); strings.Contains(text, key) || strings.Contains(text, password) {
				t.Errorf("%d: %s", i, text)
			}
		}
	}
	for _, r := range s.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("%s sent Authorization %q", r.Path, got)
		}
	}
}
