package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/provider/ollama"
)

// realWith is realServer with a configuration of its own.
func realWith(t *testing.T, change func(*ollama.Config)) *ollama.Provider {
	t.Helper()
	realServer(t)
	return provide(t, func(c *ollama.Config) {
		c.Hosts, c.NumCtx = []string{os.Getenv("OREBOT_TEST_OLLAMA")}, 2048
		change(c)
	})
}

// loaded returns what the server says of a model in memory, nil if it isn't.
func loaded(t *testing.T, model string) *api.ProcessModelResponse {
	t.Helper()
	resp, err := http.Get(os.Getenv("OREBOT_TEST_OLLAMA") + "/api/ps")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list api.ProcessResponse
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for i, m := range list.Models {
		// One that was just unloaded may be listed a little longer, with a time that is past.
		if strings.HasPrefix(m.Name, model) && m.ExpiresAt.After(time.Now()) {
			return &list.Models[i]
		}
	}
	return nil
}

// unload takes a model out of memory.
func unload(t *testing.T, model string) {
	t.Helper()
	resp, err := http.Post(os.Getenv("OREBOT_TEST_OLLAMA")+"/api/chat", "application/json",
		strings.NewReader(`{"model":"`+model+`","messages":[],"keep_alive":0}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// keep_alive holds as configured, and the window is never larger than the model's, however large the configured one is. A server that
// has the model in memory already sets its time to what the newest call said behind the call's answer.
func TestRealServerKeepsTheModelAndCapsTheWindow(t *testing.T) {
	for _, tt := range []struct{ keep, min, max time.Duration }{
		{-1, 24 * 365 * time.Hour, 1<<63 - 1},
		{time.Hour, 50 * time.Minute, 70 * time.Minute},
		{-1, 24 * 365 * time.Hour, 1<<63 - 1},
	} {
		p := realWith(t, func(c *ollama.Config) { c.KeepAlive, c.NumCtx = tt.keep, 1<<20 })
		if _, err := ask(t, p, "/hello", models.Spec{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("the model is kept for %s with a window of 8192", tt.keep), func() bool {
			m := loaded(t, "tiny")
			return m != nil && m.ContextLength == 8192 && time.Until(m.ExpiresAt) > tt.min && time.Until(m.ExpiresAt) <= tt.max
		})
	}
	p := realWith(t, func(c *ollama.Config) { c.KeepAlive, c.NumCtx = 0, 1<<20 })
	if _, err := ask(t, p, "/hello", models.Spec{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the model is unloaded", func() bool { return loaded(t, "tiny") == nil })
}

// A stop while the model loads is felt too: the call ends at once, and the next one loads the model and is answered.
func TestRealServerStopsWhileItLoads(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.KeepAlive, c.FirstTokenTimeout = 0, 30*time.Second })
	for range 2 {
		if _, err := ask(t, p, "/hello", models.Spec{}); err != nil { // and unload it
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		_, err := invoke(ctx, p, state(user("/long")), models.Spec{Model: "tiny", MaxTokens: 1 << 20})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		nextAfterAStop(t, p)
	}
}

// An answer ends where the window is full, and says so, instead of pushing the beginning of the prompt out of the window.
func TestRealServerEndsWhereTheWindowIsFull(t *testing.T) {
	const window = 256
	p := realWith(t, func(c *ollama.Config) { c.NumCtx = window })
	got, err := ask(t, p, "/long", models.Spec{MaxTokens: 1 << 20})
	if err != nil || got.finish != "length" || got.usage.TotalTokens > window+1 || got.usage.CompletionTokens < window/2 {
		t.Errorf("%q, %+v, %v", got.finish, got.usage, err)
	}
}

// loose sends calls without the wish that a prompt isn't cut, as a server that doesn't know it takes them.
type loose struct{}

func (loose) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		data = bytes.ReplaceAll(data, []byte(`"truncate":false`), []byte(`"truncate":true`))
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Report 69: a server that cuts a prompt says nothing of it but its count; from that it is told. This server does so where it may.
func TestRealServerIsSeenToCut(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.NumCtx, c.Transport = 256, loose{} })
	long := strings.Repeat("many words ", 50)
	middle := []ledger.Turn{turn(ledger.RoleSystem, user("be brief").Artifacts...)}
	for range 8 {
		middle = append(middle, user(strings.Repeat("x", 80)))
	}
	for name, turns := range map[string][]ledger.Turn{
		"nothing":             {user("/hello")},
		"one message":         {user(long + "/hello")},
		"older ones, at last": append(middle, user("/hello")),
	} {
		var told []provider.Cut
		ctx := provider.WithProgress(t.Context(), func(pr provider.Progress) {
			if pr.Cut != nil {
				told = append(told, *pr.Cut)
			}
		})
		if _, err := ask(t, p, strings.Repeat("y", 100), models.Spec{}); err != nil { // so that it is known how long a token is
			t.Fatal(err)
		}
		if _, err := invoke(ctx, p, state(turns...), models.Spec{Model: "tiny"}); err != nil {
			t.Fatal(err)
		}
		if (len(told) == 1) != (name != "nothing") {
			t.Errorf("%s: told %+v", name, told)
		}
	}
}

// A picture, whole or broken, for a model that can't see is left out, and the text is answered: a server would read "[img-0]" in it.
func TestRealServerGetsNoPictureForABlindModel(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.Blobs = shelf{"blob:a": "\x89PNG\r\n\x1a\nbroken", "blob:b": "no picture"} })
	before := settled(t, p)
	var prompts []int
	for _, urls := range [][]string{nil, {"blob:a"}, {"blob:b"}, {"blob:gone"}} {
		got, err := invoke(t.Context(), p, state(show("/hello", urls...)), models.Spec{Model: "tiny"})
		if err != nil || got.text == "" {
			t.Fatalf("%v: %q, %v", urls, got.text, err)
		}
		prompts = append(prompts, got.usage.PromptTokens)
	}
	if calls := settled(t, p) - 1 - before; calls != len(prompts) {
		t.Errorf("%d calls for %d questions", calls, len(prompts))
	}
	if prompts[1] != prompts[0] || prompts[2] != prompts[0] {
		t.Errorf("prompts of %v tokens, though no picture counts", prompts)
	}
}

// The reading of a prompt is what a first token waits for. One whose beginning is in memory is read from there on.
func TestRealServerTellsWhatAPrefixSaves(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.NumCtx = 8192 })
	before := settled(t, p) // loads the model with this window
	const rounds = 3
	var took [2]time.Duration
	for i := range rounds {
		long := strings.Repeat(string(rune('a'+i))+"bcdefghi ", 120)
		for k, question := range []string{"first", "second"} { // the same 1,200 tokens before both
			begin := time.Now()
			first := firstToken(t, p, state(turn(ledger.RoleSystem, user(long).Artifacts...), user(question)))
			took[k] += first.Sub(begin) / rounds
		}
	}
	prompt, used := slotsAfter(t, before+2*rounds)
	prompt, used = prompt[before:], used[before:]
	for i := range used {
		if again := i%2 == 1; again && used[i] < 1150 || !again && used[i] > 100 {
			t.Errorf("call %d: %d of %d tokens are reused", i, used[i], prompt[i])
		}
	}
	t.Logf("first token of a prompt of %d: after %s with nothing reused, after %s with %d tokens reused", prompt[0],
		took[0].Round(time.Millisecond), took[1].Round(time.Millisecond), used[1])
}

// firstToken asks to the end and returns when the first artifact came.
func firstToken(t *testing.T, p *ollama.Provider, st ledger.State) (at time.Time) {
	t.Helper()
	ch, done := make(chan artifact.Artifact), make(chan error, 1)
	go func() { done <- p.Invoke(t.Context(), st, models.Spec{Model: "tiny"}, ch) }()
	for {
		select {
		case <-ch:
			if at.IsZero() {
				at = time.Now()
			}
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
	}
}
