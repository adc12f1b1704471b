package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// trouble is one way in which a model server fails a question, and what people are shown in the end.
type trouble struct {
	name   string
	first  ollama.Reply // to the first call
	always bool         // to every call
	want   string       // what the chat shows
	calls  int          // how often the server is asked; 0: more than once
	aside  bool         // the next prompt is without the question
}

// troubles are told apart, tried again where that helps, and end in a line that says what to do. The texts are those of real servers; each
// stands in docs/ollama-facts.md.
func troubles() []trouble {
	half := []string{"half ", "of ", "it ", "and more"}
	const twice, again = "The model stopped without an answer; I tried twice. `!retry`", "well again"
	const refused, unloaded = "The model server refused this request. I've set it aside", "The model server can't load `test`; the operator has to look at it. Your message is kept; `!retry`"
	const tooLong = "That is more than `test` can read at once." // a short question, far within the window: it is tried twice
	const busy, away, repeated = "The model server is too busy; `!retry`", "The model server hasn't answered for", "only repeated itself; I stopped it twice"
	all := []trouble{
		{"72: the stream ends without done", ollama.Reply{Chunks: half, End: ollama.EOF, After: 2}, true, twice, 2, true},
		{"72: it ends so once", ollama.Reply{Chunks: half, End: ollama.EOF, After: 2}, false, again, 2, false},
		{"72: the connection breaks in mid-answer", ollama.Reply{Chunks: half, End: ollama.Cut, After: 2}, false, again, 2, false},
		{"72: the connection breaks each time", ollama.Reply{Chunks: half, End: ollama.Cut, After: 2}, true, twice, 2, true},
		{"72: the runner dies", ollama.Reply{Chunks: half, End: ollama.Fail, After: 2}, true, twice, 2, true},
		{"72: the runner dies at once", ollama.Reply{End: ollama.Fail}, true, twice, 2, true},
		{"72: a line is garbage", raw(200, `{"message":{"content":"half of it"}}`+"\n<html>\n"), true, twice, 2, true},
		{"72: a line has no end", raw(200, `{"message":{"content":"`+strings.Repeat("half", 1<<20)+`"}}`+"\n"), true, twice, 2, true},
		{"72: there is no body", raw(200, ""), true, twice, 2, true},
		{"25: nothing is said", ollama.Reply{}, true, twice, 2, false},
		{"25: only blanks", ollama.Say(" ", "\n"), false, again, 2, false},
		{"25: it only loads", raw(200, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`+"\n"), true, twice, 2, false},
		{"25: a tool call was swallowed", ollama.Reply{Eval: 12}, true, twice, 2, false},
		{"73: cut at the limit", ollama.Reply{Chunks: []string{"the beginning"}, DoneReason: "length"}, true, "length limit; say 'go on'", 1, false},
		{"it says the same for ever", ollama.Reply{Chunks: []string{"again and "}, Endless: true}, true, repeated, 2, false},
		{"the server ends 31 equal tokens", ollama.Reply{Chunks: slices.Repeat([]string{"same"}, 31), End: ollama.EOF, After: 31}, true, repeated, 2, false},
		{"75: it is busy once", raw(503, `{"error":"server busy"}`), false, again, 2, false},
		{"75: it is busy without a word", raw(503, ""), true, busy, 0, false},
		{"a proxy has nobody behind it", raw(502, "<html>bad gateway</html>"), true, away, 0, false},
		{"a proxy's page is there", raw(200, "<html>welcome</html>"), true, away, 0, false},
		{"the key is wrong", raw(401, `{"error":"unauthorized"}`), true, "The operator has to check its key.", 1, false},
		{"the way isn't there", ollama.Reply{Raw: &ollama.Raw{Status: 404, Type: "text/plain", Body: "404 page not found"}}, true, refused, 1, true},
		{"the error is an object", raw(500, `{"error":{"message":"upstream gone","code":1}}`), true, twice, 2, true},
		{"the model can't use tools", raw(400, `{"error":"registry.ollama.ai/library/test:latest does not support tools"}`), false, again, 2, false},
	}
	for _, e := range []struct {
		status int
		text   string
		want   string
		calls  int
		aside  bool
	}{
		{404, "model 'test' not found", "`test` isn't installed.", 1, false},
		{400, "json: cannot unmarshal array into Go struct field", refused, 1, true},
		{400, "unexpected EOF", refused, 1, true},
		{400, "missing request body", refused, 1, true},
		{400, "illegal base64 data at input byte 4", refused, 1, true},
		{400, "time: invalid duration \"forever\"", refused, 1, true},
		{400, "the input length exceeds the context length", tooLong, 2, true},
		{400, "the prompt is longer than the context length currently available to the model; try", tooLong, 2, true},
		{500, `option "num_ctx" must be of type integer`, refused, 1, true},
		{500, `invalid format: "\"yaml\""; expected "json" or a valid JSON Schema object`, refused, 1, true},
		{500, "system message must be at the beginning", refused, 1, true},
		{500, "no user query found in messages", refused, 1, true},
		{500, "model requires more system memory (28.6 GiB) than is available (23.0 GiB)", unloaded, 1, false},
		{500, "unable to load model: /models/blobs/sha256-1", unloaded, 1, false},
		{500, "an error was encountered while running the model: CUDA error: out of memory", twice, 2, true},
		{500, "llama runner process has terminated: exit status 2", twice, 2, true},
		{500, "error parsing tool call: raw='{' err=unexpected end of JSON input", twice, 2, true},
		{500, "prediction aborted, token repeat limit reached", repeated, 2, false},
		{503, "server busy, please try again.  maximum pending requests exceeded", busy, 0, false},
	} {
		body, _ := json.Marshal(map[string]string{"error": e.text})
		all = append(all, trouble{e.text, raw(e.status, string(body)), true, e.want, e.calls, e.aside})
	}
	return all
}

func raw(status int, body string) ollama.Reply {
	return ollama.Reply{Raw: &ollama.Raw{Status: status, Body: body}}
}

// failingBy answers the questions of troubles, which name them, and says "well again" to everything else.
type failingBy struct {
	mu    sync.Mutex
	by    map[string]trouble
	calls map[string]int
}

func (f *failingBy) answer(r ollama.Request) ollama.Reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.by[r.Last()]
	f.calls[r.Last()]++
	if ok && (t.always || f.calls[r.Last()] == 1) {
		return t.first
	}
	return ollama.Say("well again")
}

// Reports 25, 72, 73 and 75: whatever the server does to a question, the chat learns it once, in words that say what to do; nothing
// half is shown, nothing twice; and the next question in the same place is answered as if nothing had been: without the one before where
// that was to blame, with it where the server was.
func TestTroubleWithTheModelIsToldApart(t *testing.T) {
	f := &failingBy{by: map[string]trouble{}, calls: map[string]int{}}
	w := newWorld(t, options{answer: f.answer, abilities: []string{"tools"}})
	w.ollamaTOML = `retry_for = "15s"` + "\nmax_concurrent = 16" // what is tried again needs a second, and a busy machine more
	d := w.start().ready()
	var who []person
	all := troubles()
	for i, tr := range all {
		f.mu.Lock()
		f.by[tr.name] = tr
		f.mu.Unlock()
		p := w.person(fmt.Sprint("person", i))
		w.slack.Say(p.user, p.dm, tr.name)
		who = append(who, p)
	}
	for i, tr := range all {
		w.slackSees(tr.name+": "+tr.want, posted(who[i].dm, "", tr.want))
		w.slack.Say(who[i].user, who[i].dm, fmt.Sprint("next ", i))
	}
	for i, tr := range all {
		w.slackSees(tr.name+": the next answer", func(lines []slack.Line) bool { return len(said(lines, who[i].dm, "")) >= 2 })
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	next := map[string]string{} // the prompts of the next questions
	for _, r := range w.ollama.Chats() {
		next[r.Last()] = string(r.Raw)
		if strings.Contains(string(r.Raw), "half") {
			t.Errorf("a broken answer is in a prompt: %s", r.Raw)
		}
	}
	for i, tr := range all {
		got := said(w.slack.Transcript(), who[i].dm, "")
		if len(got) != 2 || !strings.Contains(got[0], tr.want) || got[1] != "well again" || strings.Contains(got[0], "half") {
			t.Errorf("%s: the chat shows %q", tr.name, got)
		}
		if n := f.calls[tr.name]; tr.calls > 0 && n != tr.calls || tr.calls == 0 && n < 2 {
			t.Errorf("%s: the server was asked %d times", tr.name, n)
		}
		quoted, _ := json.Marshal(tr.name)
		if without := !strings.Contains(next[fmt.Sprint("next ", i)], string(quoted)); without != tr.aside {
			t.Errorf("%s: the next prompt is without it: %v, want %v", tr.name, without, tr.aside)
		}
	}
}
