package ollama_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	sim "orebot/internal/sim/ollama"
)

// refused is a chat that a server refuses; newer says that 0.17 still takes it.
type refused struct {
	body   string
	status int
	text   string
	newer  bool
}

func refusals() []refused {
	msg := `"messages":[{"role":"user","content":"hi"}]`
	return []refused{
		{``, 400, "missing request body", false},
		{`{"model":`, 400, "unexpected EOF", false},
		{`{"model":"",` + msg + `}`, 400, "model is required", false},
		{`{"model":"nope",` + msg + `}`, 404, "model 'nope' not found", false},
		{`{"model":"tiny","keep_alive":"forever",` + msg + `}`, 400, `time: invalid duration \"forever\"`, false},
		{`{"model":"tiny","keep_alive":"-1",` + msg + `}`, 400, `time: missing unit in duration \"-1\"`, false},
		{`{"model":"tiny","options":{"num_ctx":"8192"},` + msg + `}`, 500, `option \"num_ctx\" must be of type integer`, false},
		{`{"model":"tiny","options":{"stop":"x"},` + msg + `}`, 500, `option \"stop\" must be of type array`, false},
		{`{"model":"plain","think":true,` + msg + `}`, 400, `\"plain\" does not support thinking`, false},
		{`{"model":"tiny","think":"high",` + msg + `}`, 400, `think value \"high\" is not supported for this model`, false},
		{`{"model":"tiny","think":"deep",` + msg + `}`, 400, `invalid think value`, false},
		{`{"model":"plain","tools":[{"type":"function"}],` + msg + `}`, 400, `registry.ollama.ai/library/plain:latest does not support tools`, false},
		{`{"model":"plain","format":"yaml",` + msg + `}`, 500, `invalid format`, false},
		{`{"model":"tiny","truncate":false,"options":{"num_ctx":4},"messages":[{"role":"user","content":"hello"}]}`, 400, "the input length exceeds the context length", false},
		{`{"model":"tiny","messages":[{"role":"system","content":"s"}]}`, 500, "no user query found in messages", true},
		{`{"model":"tiny","messages":[{"role":"user","content":"s"},{"role":"system","content":"s"}]}`, 500, "at the beginning", true},
		{`{"model":"plain","messages":[{"role":"user","content":"s","images":["aGk="]}]}`, 400, "Multimodal data provided", true},
		{`{"model":"tiny","messages":[{"role":"user","content":"s","images":["data:image/png;base64,aGk="]}]}`, 400, "illegal base64", false},
		{`{"model":"tiny","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`, 400, "can't find closing", false},
	}
}

func TestRefusals(t *testing.T) {
	_, base, _ := start(t, sim.Options{})
	for _, tt := range refusals() {
		tt.check(t, base)
	}
	_, lenient, _ := start(t, sim.Options{Lenient: true})
	for _, tt := range refusals() {
		if tt.newer {
			tt.status, tt.text = 200, ""
		}
		tt.check(t, lenient)
	}
}

// TestRealServerRefusesLikewise holds the simulator against the server that OREBOT_TEST_OLLAMA names.
func TestRealServerRefusesLikewise(t *testing.T) {
	base := os.Getenv("OREBOT_TEST_OLLAMA")
	if base == "" {
		t.Skip("OREBOT_TEST_OLLAMA names no Ollama server with the models tiny and plain")
	}
	for _, tt := range refusals() {
		if !tt.newer {
			tt.check(t, base)
		}
	}
}

func TestRealServerCountsLikewise(t *testing.T) {
	base := os.Getenv("OREBOT_TEST_OLLAMA")
	if base == "" {
		t.Skip("OREBOT_TEST_OLLAMA names no Ollama server with the models tiny and plain")
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	_, _, c := start(t, sim.Options{})
	req := &api.ChatRequest{Model: "tiny", Messages: []api.Message{{Role: "system", Content: "abc"}, {Role: "user", Content: "q"},
		{Role: "assistant", Content: "bc"}, {Role: "user", Content: "hello"}}}
	want, err := chat(t.Context(), api.NewClient(u, http.DefaultClient), req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := chat(t.Context(), c, req)
	if err != nil || got.last.PromptEvalCount != want.last.PromptEvalCount {
		t.Errorf("%d tokens, a real server counts %d; %v", got.last.PromptEvalCount, want.last.PromptEvalCount, err)
	}
}

func (tt refused) check(t *testing.T, base string) {
	t.Helper()
	resp, err := http.Post(base+"/api/chat", "application/json", strings.NewReader(tt.body))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != tt.status || !strings.Contains(string(b), tt.text) {
		t.Errorf("%s:\n got %d %s\nwant %d %s", tt.body, resp.StatusCode, b, tt.status, tt.text)
	}
}
