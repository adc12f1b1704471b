package main

import (
	"net/http"
	"strings"
	"testing"

	"orebot/provider/ollama"
)

func TestWrongCallsSayWhatToDo(t *testing.T) {
	for line, want := range map[string]string{
		"runn":              `orebot: there is no command "runn"; did you mean run?`,
		"frobnicate":        `orebot: there is no command "frobnicate"; see: orebot --help`,
		"run now":           `orebot: orebot run takes no arguments, and got "now"; see: orebot run --help`,
		"check --on":        `orebot: unknown flag: --on; see: orebot check --help`,
		"run --log-level x": `orebot: --log-level: "x" is not one of debug, info, warn, error`,
		"xoxb-12345678-abc": `orebot: there is no command "[redacted]"; see: orebot --help`,
	} {
		var out, err strings.Builder
		code := execute(t.Context(), strings.Fields(line), stdio{strings.NewReader(""), &out, &err})
		if code != exitUsage || err.String() != want+"\n" || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, stdout %q", line, code, err.String(), out.String())
		}
	}
}

// Each way in which a model server can be wrong has its own remedy.
func TestCheckOfAModelServer(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"x","x.context_length":4096}}`,
			"✓ ollama: m at http://h, context 4096, completion, tools"},
		{200, `{}`, "✓ ollama: m at http://h, context unknown"},
		{404, `{"error":"model 'm' not found"}`, "✗ ollama: m isn't installed at http://h; run: ollama pull m"},
		{401, `{"error":"unauthorized"}`, "✗ ollama: http://h wants another key; set ollama.api_key or $OLLAMA_API_KEY"},
		{502, `<html>bad gateway</html>`, "✗ ollama: http://h doesn't answer; is `ollama serve` running there?"},
		{500, `{"error":"boom"}`, "✗ ollama: http://h says nothing about m: "},
	} {
		p, err := ollama.New(ollama.Config{Hosts: []string{"http://h"}, Transport: tripper(func(*http.Request) (*http.Response, error) {
			return answer(c.status, c.body), nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		r := report{w: &out}
		r.modelAt(t.Context(), "http://h", p, "m")
		if !strings.HasPrefix(out.String(), c.want) || r.bad != strings.HasPrefix(c.want, "✗") {
			t.Errorf("%d %s: got %q", c.status, c.body, out.String())
		}
	}
}
