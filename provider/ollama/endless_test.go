package ollama_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orebot/core/models"
	"orebot/core/provider"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// A server that never stops talking, whatever num_predict says, is left; what it said counts as cut at the length limit.
func TestAnEndlessAnswerIsCut(t *testing.T) {
	gone := make(chan struct{}, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			select {
			case gone <- struct{}{}:
			default: // a second call: one end is all that is waited for
			}
		}()
		for i := 0; r.Context().Err() == nil; i++ {
			line := []byte(`{"model":"m","message":{"role":"assistant","content":"` + strings.Repeat(fmt.Sprint("word", i, " "), 400/4) + "\"},\"done\":false}\n")
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
	<-gone
}

// Endless repetition is ended early, with what was good of it; where that is nothing, it is a failure of its own kind. The server isn't
// heard any longer. Over a pipe, which holds nothing: into a socket a server could write all of it before it is left.
func TestEndlessRepetition(t *testing.T) { synctest.Test(t, endlessRepetition) }

func endlessRepetition(t *testing.T) {
	good := strings.SplitAfter("This is the whole answer, in one sentence that is long enough. ", " ")
	raw := func(status int, body string) sim.Reply { return sim.Reply{Raw: &sim.Raw{Status: status, Body: body}} }
	replies := map[string]sim.Reply{
		"good":    {Chunks: append(good, slices.Repeat([]string{"And so on. "}, 6000)...)},
		"bad":     {Chunks: []string{"again "}, Endless: true},
		"thought": {Thinking: slices.Repeat([]string{"hm "}, 6000), Chunks: []string{"late"}},
		"abort":   {Chunks: slices.Repeat([]string{"x"}, 31), End: sim.EOF, After: 31},
		"newer":   {Chunks: []string{"a", "b"}, End: sim.Fail, After: 2, Error: "prediction aborted, token repeat limit reached"},
		"newest":  raw(500, `{"error":"prediction aborted, token repeat limit reached"}`),
	}
	s, p := bubble(t, sim.Options{Answer: func(r sim.Request) sim.Reply { return replies[r.Last()] }})
	got, err := ask(t, p, "good", models.Spec{NumCtx: 8192})
	if err != nil || got.finish != "repeat" || !strings.HasPrefix(got.text, strings.Join(good, "")) || len(got.text) > 1000 {
		t.Errorf("%d bytes, finish %q, %v", len(got.text), got.finish, err)
	}
	for _, name := range []string{"bad", "thought", "abort", "newer", "newest"} {
		_, err := ask(t, p, name, models.Spec{NumCtx: 8192})
		wantError(t, err, provider.KindRepeats, name != "newest", "repeat")
	}
	left(t, s)
}

// left fails where a server could say all that it had to. Some of it is read by the client's transport, which would use the connection again:
// up to 256 KiB, or for 50 ms (net/http's transport.go, maybeDrainBody).
func left(t *testing.T, s *sim.Server) {
	t.Helper()
	synctest.Wait()
	for _, r := range s.Chats() {
		if r.Ended.IsZero() || r.Lines > 4000 {
			t.Errorf("%q: %d lines were heard, ended %v", r.Last(), r.Lines, r.Ended)
		}
	}
}

// A model that calls tools without end, or a thousand at once, isn't heard any longer after some dozens: it gets the results of those. An
// answer that is complete within that is whole. Over a pipe, for the same reason.
func TestEndlessToolCalls(t *testing.T) { synctest.Test(t, endlessToolCalls) }

func endlessToolCalls(t *testing.T) {
	clock := sim.ToolCall{Name: "clock", Arguments: `{"zone":"UTC"}`}
	calls := strings.Repeat(`{"function":{"name":"clock","arguments":{}}},`, 1000)
	big := sim.ToolCall{Name: "clock", Arguments: `{"zone":"` + strings.Repeat("x", 100<<10) + `"}`}
	replies := map[string]sim.Reply{
		"some":    {ToolCalls: slices.Repeat([]sim.ToolCall{clock}, 20)},
		"many":    {ToolCalls: slices.Repeat([]sim.ToolCall{clock}, 5000)},
		"at once": {Raw: &sim.Raw{Status: 200, Body: `{"message":{"role":"assistant","tool_calls":[` + strings.TrimSuffix(calls, ",") + `]},"done":true,"eval_count":3}` + "\n"}},
		"big":     {ToolCalls: slices.Repeat([]sim.ToolCall{big}, 50)},
	}
	s, p := bubble(t, sim.Options{Answer: func(r sim.Request) sim.Reply { return replies[r.Last()] }})
	for asked, want := range map[string]int{"some": 20, "many": 64, "at once": 64, "big": 3} {
		got, err := ask(t, p, asked, models.Spec{NumCtx: 8192},
			provider.WithTools(provider.Tool{Name: "clock", Parameters: []byte(`{"type":"object"}`)}))
		if err != nil || len(got.calls) != want {
			t.Errorf("%s: %d calls, want %d, %v", asked, len(got.calls), want, err)
		}
		if cut := got.finish != ""; cut != (asked == "big") {
			t.Errorf("%s: finish %q", asked, got.finish)
		}
	}
	left(t, s)
}
