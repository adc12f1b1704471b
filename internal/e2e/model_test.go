package e2e

import (
	"fmt"
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
}

// troubles are told apart, tried again where that helps, and end in a line that says what to do.
func troubles() []trouble {
	raw := func(status int, body string) ollama.Reply {
		return ollama.Reply{Raw: &ollama.Raw{Status: status, Body: body}}
	}
	half := []string{"half ", "of ", "it ", "and more"}
	const twice, again = "The model stopped without an answer; I tried twice. `!retry`", "well again"
	return []trouble{
		{"72: the stream ends without done", ollama.Reply{Chunks: half, End: ollama.EOF, After: 2}, true, twice, 2},
		{"72: it ends so once", ollama.Reply{Chunks: half, End: ollama.EOF, After: 2}, false, again, 2},
		{"72: the connection breaks in mid-answer", ollama.Reply{Chunks: half, End: ollama.Cut, After: 2}, false, again, 2},
		{"72: the runner dies", ollama.Reply{Chunks: half, End: ollama.Fail, After: 2}, true, twice, 2},
		{"72: a line is garbage", raw(200, `{"message":{"content":"half of it"}}`+"\n<html>\n"), true, twice, 2},
		{"25: nothing is said", ollama.Reply{}, true, twice, 2},
		{"25: only blanks", ollama.Say(" ", "\n"), false, again, 2},
		{"73: cut at the limit", ollama.Reply{Chunks: []string{"the beginning"}, DoneReason: "length"}, true, "length limit; say 'go on'", 1},
		{"it says the same for ever", ollama.Reply{Chunks: []string{"again and "}, Endless: true}, true, "only repeated itself; I stopped it twice", 2},
		{"75: the server is busy", raw(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), true, "The model server is too busy; `!retry`", 0},
		{"75: it is busy once", raw(503, `{"error":"server busy"}`), false, again, 2},
		{"a proxy has nobody behind it", raw(502, "<html>bad gateway</html>"), true, "The model server hasn't answered for", 0},
		{"the key is wrong", raw(401, `{"error":"unauthorized"}`), true, "The operator has to check its key.", 1},
		{"the model isn't there", raw(404, `{"error":"model 'test' not found"}`), true, "`test` isn't installed.", 1},
		{"too little memory", raw(500, `{"error":"model requires more system memory (28.6 GiB) than is available (23.0 GiB)"}`), true, "The model server can't load `test`; the operator has to look at it. Your message is kept; `!retry`", 1},
		{"the request is refused", raw(400, `{"error":"json: cannot unmarshal"}`), true, "The model server refused this request.", 1},
	}
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
// half is shown, nothing twice; and the next question in the same place is answered as if nothing had been.
func TestTroubleWithTheModelIsToldApart(t *testing.T) {
	f := &failingBy{by: map[string]trouble{}, calls: map[string]int{}}
	w := newWorld(t, options{answer: f.answer})
	w.ollamaTOML = `retry_for = "3s"`
	d := w.start().ready()
	var who []person
	for i, tr := range troubles() {
		f.mu.Lock()
		f.by[tr.name] = tr
		f.mu.Unlock()
		p := w.person(fmt.Sprint("person", i))
		w.slack.Say(p.user, p.dm, tr.name)
		who = append(who, p)
	}
	for i, tr := range troubles() {
		w.slackSees(tr.name+": "+tr.want, posted(who[i].dm, "", tr.want))
		w.slack.Say(who[i].user, who[i].dm, "next")
	}
	for i, tr := range troubles() {
		w.slackSees(tr.name+": the next answer", func(lines []slack.Line) bool { return len(said(lines, who[i].dm, "")) >= 2 })
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i, tr := range troubles() {
		got := said(w.slack.Transcript(), who[i].dm, "")
		if len(got) != 2 || !strings.Contains(got[0], tr.want) || got[1] != "well again" || strings.Contains(got[0], "half") {
			t.Errorf("%s: the chat shows %q", tr.name, got)
		}
		if n := f.calls[tr.name]; tr.calls > 0 && n != tr.calls || tr.calls == 0 && n < 2 {
			t.Errorf("%s: the server was asked %d times", tr.name, n)
		}
	}
	for _, r := range w.ollama.Chats() {
		if strings.Contains(string(r.Raw), "half") {
			t.Errorf("a broken answer is in a prompt: %s", r.Raw)
		}
	}
}
