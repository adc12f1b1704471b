package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
)

// Report 25: an answer that shows nothing is an error that says how it came to be empty.
func TestEmptyAnswers(t *testing.T) {
	replies := map[string]sim.Reply{
		"blank":     sim.Say(" ", "\n\n"),
		"half":      {Thinking: []string{"hm"}, DoneReason: "length"},
		"load":      {Raw: &sim.Raw{Status: 200, Body: `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`}},
		"swallowed": {Eval: 12},
	}
	_, p := serve(t, sim.Options{Answer: func(r sim.Request) sim.Reply {
		if reply, ok := replies[r.Last()]; ok {
			return reply
		}
		return sim.StandIn(r)
	}})
	tests := []struct {
		ask     string
		spec    models.Spec
		partial bool
		text    string
	}{
		{"/empty", models.Spec{}, false, "empty"},
		{"blank", models.Spec{}, false, "empty"},
		{"load", models.Spec{}, false, "empty"},
		{"swallowed", models.Spec{}, false, "malformed tool call"},
		{"/onlythink", models.Spec{}, true, "only reasoned"},
		{"/openthink", models.Spec{Think: "off"}, true, "only reasoned"},
		{"half", models.Spec{}, true, "spent all its tokens on reasoning"},
	}
	for _, tt := range tests {
		got, err := ask(t, p, tt.ask, tt.spec)
		wantError(t, err, provider.KindEmpty, tt.partial, tt.text)
		if got.text != "" {
			t.Errorf("%s: text %q", tt.ask, got.text)
		}
	}
}

// What the model wrote stands in no error, though servers quote the call of a tool that they couldn't read.
func TestNoErrorQuotesTheAnswer(t *testing.T) {
	text := map[string]string{
		"harmony": `error parsing tool call: raw='{"q": "our secret', err=unexpected end of JSON input`,
		"olmo":    `failed to parse function call "find(our secret": no closing bracket`,
		"olmo 2":  "invalid argument format: our secret",
	}
	_, p := serve(t, sim.Options{Answer: func(r sim.Request) sim.Reply {
		name, late, _ := strings.Cut(r.Last(), ", ")
		return sim.Reply{Chunks: []string{"a ", "b ", "c "}, End: sim.Fail, After: len(late), Error: text[name]}
	}})
	for name, want := range text {
		for _, q := range []string{name, name + ", x"} { // with a status, and in the middle of an answer
			_, err := ask(t, p, q, models.Spec{})
			if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), want[:20]) {
				t.Errorf("%s: %v", q, err)
			}
		}
	}
}

// Reports 72 and 75: no end of a stream but done is success, and each kind of failure is told apart.
func TestFailures(t *testing.T) {
	long := sim.Reply{Raw: &sim.Raw{Status: 200, Body: `{"message":{"content":"` + strings.Repeat("x", 4<<20) + `"}}` + "\n"}}
	raw := func(status int, body string) sim.Reply { return sim.Reply{Raw: &sim.Raw{Status: status, Body: body}} }
	say := []string{"a ", "b ", "c "}
	tests := []struct {
		name    string
		reply   sim.Reply
		kind    provider.Kind
		partial bool
		text    string
	}{
		{"eof", sim.Reply{Chunks: say, End: sim.EOF, After: 2}, provider.KindIncomplete, true, "ended before the answer was complete"},
		{"cut", sim.Reply{Chunks: say, End: sim.Cut, After: 2}, provider.KindIncomplete, true, "EOF"},
		{"cut at once", sim.Reply{Chunks: say, End: sim.Cut}, provider.KindIncomplete, false, "EOF"},
		{"crash", sim.Reply{Chunks: say, End: sim.Fail, After: 2}, provider.KindIncomplete, true, "unexpected EOF"},
		{"crash at once", sim.Reply{End: sim.Fail}, provider.KindIncomplete, false, "status 500: an error was encountered"},
		{"memory", sim.Reply{End: sim.Fail, Error: "model requires more system memory (28.6 GiB) than is available (23.0 GiB)"},
			provider.KindNoLoad, false, "28.6 GiB"},
		{"late overflow", sim.Reply{Chunks: say, End: sim.Fail, After: 1, Error: "the prompt is longer than the context length currently available"},
			provider.KindTooLong, true, "longer"},
		{"object", raw(200, `{"error":{"message":"upstream\n gone","code":1}}`), provider.KindIncomplete, false, "upstream  gone"},
		{"object 400", raw(400, `{"error":{"message":"no"}}`), provider.KindRefused, false, "status 400: no"},
		{"empty 200", raw(200, ""), provider.KindIncomplete, false, "ended before"},
		{"empty 503", raw(503, ""), provider.KindBusy, false, "status 503"},
		{"busy", raw(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), provider.KindBusy, false, "maximum pending"},
		{"html 200", raw(200, "<html><body>hi"), provider.KindUnreachable, false, "isn't Ollama"},
		{"html 502", raw(502, "<html>\n<h1>bad gateway"), provider.KindUnreachable, false, "status 502: <html>"},
		{"garbled late", raw(200, `{"message":{"content":"a"}}`+"\n<html>"), provider.KindIncomplete, true, "no answer"},
		{"other 404", raw(404, "404 page not found"), provider.KindRefused, false, "page not found"},
		{"proxy's limit", raw(413, "<html>\n<h1>413 Request Entity Too Large"), provider.KindTooBig, false, "status 413"},
		{"proxy's limit in JSON", raw(413, `{"error":"body too large"}`), provider.KindTooBig, false, "body too large"},
		{"window behind 413", raw(413, `{"error":"the request exceeds the available context size"}`), provider.KindTooLong, false, "context size"},
		{"redirect", raw(302, ""), provider.KindRefused, false, "status 302"},
		{"denied", raw(401, `{"error":"unauthorized"}`), provider.KindDenied, false, "unauthorized"},
		{"forbidden", raw(403, `{"error":"no cloud"}`), provider.KindDenied, false, "no cloud"},
		{"line too long", long, provider.KindIncomplete, false, "longer than 4 MiB"},
	}
	replies := map[string]sim.Reply{}
	for _, tt := range tests {
		replies[tt.name] = tt.reply
	}
	_, p := serve(t, sim.Options{Answer: func(r sim.Request) sim.Reply { return replies[r.Last()] }})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ask(t, p, tt.name, models.Spec{})
			wantError(t, err, tt.kind, tt.partial, tt.text)
		})
	}
	_, err := ask(t, p, "x", models.Spec{Model: "nope"})
	wantError(t, err, provider.KindModelMissing, false, "model 'nope' not found")
	_, err = ask(t, p, strings.Repeat("x", 5000), models.Spec{})
	wantError(t, err, provider.KindTooLong, false, "exceeds the context length")
	_, err = ask(t, p, "x", models.Spec{Options: map[string]any{"num_ctx": "many"}})
	wantError(t, err, provider.KindRefused, false, "must be of type integer")
	_, err = invoke(t.Context(), p, state(user("x")), models.Spec{})
	wantError(t, err, provider.KindRefused, false, "no model is named")
}

func TestRepeatedTokenAndDeadRunner(t *testing.T) {
	_, p := serve(t, sim.Options{})
	_, err := ask(t, p, "/same", models.Spec{})
	wantError(t, err, provider.KindRepeats, true, "repeats itself")
	_, err = ask(t, p, "/die", models.Spec{})
	wantError(t, err, provider.KindIncomplete, true, "unexpected EOF")
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	s, p := serve(t, sim.Options{})
	s.Faults().Next("/api/chat", fault.Fault{Status: 429, Retry: 7e9, Body: `{"error":"slow down"}`})
	_, err := ask(t, p, "x", models.Spec{})
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Kind != provider.KindBusy || e.After != 7e9 {
		t.Errorf("%v", err)
	}
}
