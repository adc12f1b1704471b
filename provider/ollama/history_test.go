package ollama

import (
	"encoding/json"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

func TestMessages(t *testing.T) {
	text := func(s string) artifact.Artifact { return artifact.Text{Content: s} }
	turn := func(r ledger.Role, as ...artifact.Artifact) ledger.Turn { return ledger.Turn{Role: r, Artifacts: as} }
	call := func(args string) artifact.Artifact { return artifact.ToolCall{ID: "c1", Name: "add", Arguments: args} }
	image := artifact.Image{URL: "data:image/png;base64,aGk="}
	tests := []struct {
		name   string
		turns  []ledger.Turn
		images bool
		want   string
	}{
		{"none", nil, true, `null`},
		{"system turns become one, in front", []ledger.Turn{turn("user", text("a")), turn("system", text("s1")),
			turn("assistant", text("b")), turn("system", text("s2")), turn("user", text("c"))}, true,
			`[{"role":"system","content":"s1\n\ns2"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`},
		{"same roles in a row stay apart", []ledger.Turn{turn("user", text("a")), turn("user", text("b"))}, true,
			`[{"role":"user","content":"a"},{"role":"user","content":"b"}]`},
		{"reasoning, usage and finish stay here", []ledger.Turn{turn("assistant", artifact.Reasoning{Content: "r"}, text("a"),
			artifact.Usage{TotalTokens: 1}, artifact.Finish{Reason: "length"})}, true, `[{"role":"assistant","content":"a"}]`},
		{"turns with nothing to say are left out", []ledger.Turn{turn("user"), turn("assistant", artifact.Reasoning{Content: "r"}),
			turn("system", text(" ")), turn("narrator", text("x")), turn("tool", text("x"))}, true, `null`},
		{"a call and its result", []ledger.Turn{turn("assistant", text("look"), call(`{"b":2,"a":1}`)),
			turn("tool", artifact.ToolResult{ToolCallID: "c1", Content: "3"})}, true,
			`[{"role":"assistant","content":"look","tool_calls":[{"id":"c1","function":{"index":0,"name":"add","arguments":{"b":2,"a":1}}}]},` +
				`{"role":"tool","content":"3","tool_name":"add","tool_call_id":"c1"}]`},
		{"failed and orphaned results", []ledger.Turn{turn("tool", artifact.ToolResult{ToolCallID: "x", Content: "no", IsError: true},
			artifact.ToolResult{ToolCallID: "y", Content: "yes"})}, true,
			`[{"role":"tool","content":"error: no","tool_call_id":"x"},{"role":"tool","content":"yes","tool_call_id":"y"}]`},
		{"arguments that are no object", []ledger.Turn{turn("assistant", call(`[1`)), turn("assistant", call(``)), turn("assistant", call(`null`))}, true,
			`[{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"add","arguments":{"arguments":"[1"}}}]},` +
				`{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"add","arguments":{}}}]},` +
				`{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"add","arguments":{}}}]}]`},
		{"pictures by data: URL only", []ledger.Turn{turn("user", text("see"), image, artifact.Image{URL: "https://h/x.png"},
			artifact.Image{URL: "data:image/png;base64,%"}, artifact.Image{URL: "data:text/plain,x"})}, true,
			`[{"role":"user","content":"see","images":["aGk="]}]`},
		{"a picture alone", []ledger.Turn{turn("user", image)}, true, `[{"role":"user","content":"","images":["aGk="]}]`},
		{"no pictures for the blind", []ledger.Turn{turn("user", text("see"), image), turn("user", image)}, false, `[{"role":"user","content":"see"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			see := func(url string) []byte { return dataURL(url) }
			if !tt.images {
				see = nil
			}
			got, err := json.Marshal(messages(tt.turns, see))
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestThinkValue(t *testing.T) {
	tests := []struct {
		think string
		t     traits
		want  string
	}{
		{"", traits{}, "null"}, {"auto", traits{}, "null"}, {"off", traits{}, "false"}, {"off", traits{noThink: true}, "false"},
		{"on", traits{}, "true"}, {"on", traits{noThink: true}, "null"}, {"high", traits{}, `"high"`},
		{"low", traits{noLevels: true}, "true"}, {"low", traits{noLevels: true, noThink: true}, "null"}, {"odd", traits{}, "null"},
	}
	for _, tt := range tests {
		got, err := json.Marshal(thinkValue(tt.think, tt.t))
		if err != nil || string(got) != tt.want {
			t.Errorf("%q %+v: %s, %v; want %s", tt.think, tt.t, got, err, tt.want)
		}
	}
}

func TestParseHost(t *testing.T) {
	tests := []struct{ in, name, user string }{
		{"localhost", "http://localhost:11434", ""},
		{"10.0.0.5:8080", "http://10.0.0.5:8080", ""},
		{"0.0.0.0", "http://127.0.0.1:11434", ""},
		{"http://[::]:11434", "http://127.0.0.1:11434", ""},
		{"[::1]", "http://[::1]:11434", ""},
		{"https://[fe80::1]/", "https://[fe80::1]", ""},
		{"http://h", "http://h", ""}, // port 80, as Ollama has it
		{" https://me:pw@h.example/ollama/ ", "https://h.example/ollama", "me:pw"},
		{"", "", ""}, {"ftp://h", "", ""}, {"http://", "", ""}, {"http://h?x=1", "", ""}, {"http://h#x", "", ""}, {"http://h:port", "", ""},
	}
	for _, tt := range tests {
		h, err := parseHost(tt.in)
		if (err != nil) != (tt.name == "") {
			t.Errorf("%q: %v", tt.in, err)
		}
		if err == nil && (h.name != tt.name || h.user.String() != tt.user) {
			t.Errorf("%q: %s, user %s; want %s, %s", tt.in, h.name, h.user, tt.name, tt.user)
		}
	}
}

func TestKindOfRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"the input length exceeds the context length":                                        "too long",
		"the prompt is longer than the context length currently available to the model; try": "too long",
		"request (9000 tokens) exceeds the available context size (4096 tokens)":             "too long",
		`option "num_ctx" must be of type integer`:                                           "refused",
		`invalid format: "\"yaml\""; expected "json" or a valid JSON Schema object`:          "refused",
		"model requires more system memory (28.6 GiB) than is available (23.0 GiB)":          "no load",
		"unable to load model: /models/blobs/sha256-1":                                       "no load",
		"model failed to load, this may be due to resource limitations or an internal error": "no load",
		"an error was encountered while running the model: CUDA error: out of memory":        "incomplete",
		"llama runner process has terminated: exit status 2":                                 "incomplete",
		"no user query found in messages":                                                    "refused",
		"error parsing tool call: raw='{' err=unexpected end of JSON input":                  "incomplete",
		"prediction aborted, token repeat limit reached":                                     "repeats",
		"an error was encountered while running the model: unexpected EOF":                   "incomplete",
	} {
		if got := (&refusal{status: 500, json: true, text: text}).kind().String(); got != want {
			t.Errorf("status 500, %s: %s, want %s", text, got, want)
		}
		if got := lineKind(text).String(); got != want {
			t.Errorf("in the stream, %s: %s, want %s", text, got, want)
		}
	}
}
