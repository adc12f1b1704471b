package ollama_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"orebot/core/models"
	"orebot/core/provider"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// trip is a round trip.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// num_ctx is never above what the model was trained for, and the same on every call.
func TestTheWindowIsNeverLargerThanTheModels(t *testing.T) {
	s, p := serve(t, sim.Options{Models: []sim.Model{{Name: "small", Context: 2048}, {Name: "large", Context: 1 << 17}}})
	for _, model := range []string{"small", "small", "large"} {
		if _, err := ask(t, p, "/hello", models.Spec{Model: model, NumCtx: 8192}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`"num_ctx":2048,"num_predict":2048`, `"num_ctx":2048,"num_predict":2048`, `"num_ctx":8192,"num_predict":8192`}
	for i, r := range s.Chats() {
		if !strings.Contains(string(r.Raw), want[i]) {
			t.Errorf("call %d: %s, want %s", i, r.Raw, want[i])
		}
	}
}

// Report 69: a server that counts far fewer tokens than the prompt has has cut it, though it was told not to. That is told, and doesn't
// change what is known of the model.
func TestACutPromptIsTold(t *testing.T) {
	const window = 4096
	count := 0
	p := provide(t, func(c *ollama.Config) {
		c.Hosts, c.Transport = []string{"h"}, trip(func(r *http.Request) (*http.Response, error) {
			body := fmt.Sprintf(`{"message":{"content":"ok"},"done":true,"prompt_eval_count":%d,"eval_count":1}`, count)
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
		})
	})
	usual := strings.Repeat("some words ", 100) // 1,100 bytes
	for _, c := range []struct {
		name  string
		bytes int
		count int
		cut   bool
	}{
		{"the first, as usual", 1100, 275, false},
		{"a silent window of 2048", 33_000, 2048, true},
		{"as usual again", 11_000, 2750, false},
		{"cut to half the window", 22_000, 2050, true},
		{"exactly the window", 16_500, 4096, true},
		{"more bytes to a token than before", 11_000, 2000, false},
		{"no count", 33_000, 0, false},
	} {
		count = c.count
		var told []provider.Cut
		ctx := provider.WithProgress(t.Context(), func(pr provider.Progress) {
			if pr.Cut != nil {
				told = append(told, *pr.Cut)
			}
		})
		st := state(user(strings.Repeat(usual, c.bytes/1100)))
		if _, err := invoke(ctx, p, st, models.Spec{Model: "tiny", NumCtx: window}); err != nil {
			t.Fatal(err)
		}
		if (len(told) == 1) != c.cut {
			t.Errorf("%s: told %+v", c.name, told)
		}
	}
}
