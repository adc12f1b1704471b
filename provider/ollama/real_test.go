package ollama_test

import (
	"os"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/provider/ollama"
)

// realServer returns a provider for the server that OREBOT_TEST_OLLAMA names, which must have the scripted models tiny and plain.
func realServer(t *testing.T) *ollama.Provider {
	t.Helper()
	host := os.Getenv("OREBOT_TEST_OLLAMA")
	if host == "" {
		t.Skip("OREBOT_TEST_OLLAMA names no Ollama server with the models tiny and plain")
	}
	return provide(t, func(c *ollama.Config) { c.Hosts, c.NumCtx = []string{host}, 2048 })
}

func TestRealServerAnswers(t *testing.T) {
	p := realServer(t)
	if err := p.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		ask             string
		spec            models.Spec
		tools           bool
		text, reasoning string
		kinds           string
	}{
		{"/hello", models.Spec{}, false, "Hello, I am a tiny scripted model.", "", "text_delta usage"},
		{"/hello", models.Spec{Model: "plain", Think: "high"}, true, "Hello, I am a tiny scripted model.", "", "text_delta usage"},
		{"/long", models.Spec{MaxTokens: 5}, false, "", "", "text_delta usage finish"},
		{"/2tools", models.Spec{Think: "high"}, true, "", "", "tool_call usage"},
		{"/think", models.Spec{Think: "on"}, false, "*", "*", "reasoning_delta text_delta usage"},
		{"/think", models.Spec{Think: "off"}, false, "*", "*", "reasoning_delta text_delta usage"},
	}
	for _, tt := range tests {
		var opts []provider.InvokeOption
		if tt.tools {
			opts = append(opts, provider.WithTools(clock))
		}
		got, err := ask(t, p, tt.ask, tt.spec, opts...)
		if err != nil {
			t.Errorf("%s %+v: %v", tt.ask, tt.spec, err)
			continue
		}
		wantKinds(t, got, strings.Fields(tt.kinds)...)
		if tt.text == "*" && (got.text == "" || got.reasoning == "" || strings.Contains(got.text, "think>")) ||
			len(tt.text) > 1 && got.text != tt.text {
			t.Errorf("%s %+v: text %q, reasoning %q", tt.ask, tt.spec, got.text, got.reasoning)
		}
	}
}

func TestRealServerTakesAToolResult(t *testing.T) {
	p := realServer(t)
	asked, err := ask(t, p, "/tool", models.Spec{}, provider.WithTools(clock))
	if err != nil || len(asked.calls) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	c := asked.calls[0]
	st := state(turn(ledger.RoleSystem, artifact.Text{Content: "be brief"}), user("/tool"), turn(ledger.RoleAssistant, c),
		turn(ledger.RoleTool, artifact.ToolResult{ToolCallID: c.ID, Content: "12:00"}))
	got, err := invoke(t.Context(), p, st, models.Spec{Model: "tiny"}, provider.WithTools(clock))
	if err != nil || !strings.Contains(got.text, "The tool said so!") {
		t.Errorf("%q, %v", got.text, err)
	}
}

func TestRealServerFails(t *testing.T) {
	p := realServer(t)
	_, err := ask(t, p, "/hello", models.Spec{Model: "nope"})
	wantError(t, err, provider.KindModelMissing, false, "not found")
	_, err = ask(t, p, strings.Repeat("x", 5000), models.Spec{})
	wantError(t, err, provider.KindTooLong, false, "context length")
	_, err = ask(t, p, "/empty", models.Spec{})
	wantError(t, err, provider.KindEmpty, false, "")
	_, err = ask(t, p, "/same", models.Spec{})
	wantError(t, err, provider.KindRepeats, true, "")
	_, err = ask(t, p, "x", models.Spec{Options: map[string]any{"num_ctx": "many"}})
	wantError(t, err, provider.KindRefused, false, "integer")
}

func TestRealServerDescribesItsModels(t *testing.T) {
	p := realServer(t)
	all, err := p.Models(t.Context())
	if err != nil || len(all) < 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	info, err := p.Info(t.Context(), "tiny")
	if err != nil || info.Context == 0 || !info.Can("tools") || !info.Can("thinking") {
		t.Errorf("%+v, %v", info, err)
	}
	if has, err := p.Has(t.Context(), "nope"); err != nil || has {
		t.Errorf("nope: %v, %v", has, err)
	}
}
