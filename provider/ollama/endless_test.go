package ollama_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orebot/core/models"
	"orebot/provider/ollama"
)

// A server that never stops talking, whatever num_predict says, is left; what it said counts as cut at the length limit.
func TestAnEndlessAnswerIsCut(t *testing.T) {
	left := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		line := []byte(`{"model":"m","message":{"role":"assistant","content":"` + strings.Repeat("word ", 400) + "\"},\"done\":false}\n")
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(h.Close)
	p := provide(t, func(c *ollama.Config) { c.Hosts = []string{h.URL} })
	got, err := ask(t, p, "talk", models.Spec{Model: "m"})
	if err != nil || got.finish != "length" {
		t.Errorf("error %v, finish %q, want an answer cut at the length limit", err, got.finish)
	}
	if n := len(got.text); n < 200<<10 || n > 300<<10 {
		t.Errorf("%d bytes were taken, want about 256 KiB", n)
	}
	<-left
}
