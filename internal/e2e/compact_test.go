package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

const (
	smallWindow = 4096
	theSummary  = "They count. The last number matters."
	toldOnce    = "Older messages no longer fit; I keep a summary."
)

// forSummary reports whether a call asks for a summary.
func forSummary(r ollama.Request) bool {
	return strings.HasPrefix(r.Last(), "Summarise our conversation so far")
}

// summaries returns the calls that asked for one.
func summaries(rs []ollama.Request) (out []ollama.Request) {
	for _, r := range rs {
		if forSummary(r) {
			out = append(out, r)
		}
	}
	return out
}

// longTalk is a conversation in one place that outgrows the model's window.
type longTalk struct {
	w    *world
	p    person
	n    int
	held atomic.Bool // the model takes for ever to summarise
}

func newLongTalk(t *testing.T) *longTalk {
	l := &longTalk{}
	l.w = newWorld(t, options{context: smallWindow, answer: func(r ollama.Request) ollama.Reply {
		switch {
		case forSummary(r) && l.held.Load():
			return ollama.Reply{Delay: time.Hour}
		case forSummary(r):
			return ollama.Say(theSummary)
		}
		return ollama.Say("re: ", r.Last())
	}})
	l.w.numCtx = 4 * smallWindow
	l.w.moreTOML = "[chat]\ncompact_at = 0.6\n"
	l.p = l.w.person("ana")
	return l
}

// ask puts the next question and waits for its answer.
func (l *longTalk) ask() {
	l.w.t.Helper()
	l.n++
	q := fmt.Sprintf("question %03d, %s", l.n, strings.Repeat("and on ", 14))
	l.w.slack.Say(l.p.user, l.p.dm, q)
	l.w.slackSees("the answer to "+q[:12], posted(l.p.dm, "", "re: "+q[:12]))
}

// summary waits until the model has been asked so often for a summary.
func (l *longTalk) summary(n int) ollama.Request {
	l.w.t.Helper()
	var got []ollama.Request
	if err := l.w.ollama.WaitFor(within(l.w.t, patience), func(rs []ollama.Request) bool {
		got = summaries(rs)
		return len(got) >= n
	}); err != nil {
		l.w.t.Fatalf("the model wasn't asked for %d summaries; log:\n%s", n, l.w.lastLog())
	}
	return got[n-1]
}

// kept waits until the log says that so many summaries are.
func (l *longTalk) kept(n int) {
	l.w.t.Helper()
	eventually(l.w.t, "the summary is kept", func() bool {
		return strings.Count(l.w.allLogs(), `"msg":"older turns summarised"`) >= n
	})
}

// told counts the posts in the talk that say something.
func (l *longTalk) told(text string) (n int) {
	for _, post := range said(l.w.slack.Transcript(), l.p.dm, "") {
		n += strings.Count(post, text)
	}
	return n
}

// last returns the newest call of the model.
func (l *longTalk) last() ollama.Request {
	chats := l.w.ollama.Chats()
	return chats[len(chats)-1]
}

// A talk that outgrows its model: the window is what the model reports, on every call. A summary is made while nobody writes; who does is
// answered at once, and so is who comes after a kill in the middle of one. From then on prompts begin with one system message in which the
// summary stands, and the chat is told once. A second kill changes no byte of them. Reports 69 and 85.
func TestALongTalkIsSummarised(t *testing.T) {
	l := newLongTalk(t)
	w := l.w
	l.held.Store(true)
	d := w.start().ready()
	for l.n < 11 { // seven tenths of the window
		l.ask()
	}
	l.summary(1)
	l.ask() // although a summary is being made
	eventually(t, "the summary is given up", func() bool { return !summaries(w.ollama.Chats())[0].Left.IsZero() })
	l.summary(2)
	d.kill()
	d = w.start().ready()
	l.held.Store(false)
	l.ask()
	if msgs := l.last().Chat.Messages; !strings.Contains(fmt.Sprint(msgs), "question 001") {
		t.Errorf("the prompt behind the kill doesn't hold what was said: %v", msgs)
	}
	l.summary(3)
	l.kept(1)
	if n := l.told(toldOnce); n != 0 {
		t.Errorf("told %d times although everything was in the prompts so far", n)
	}
	l.ask()
	w.slackSees("that older messages don't fit", posted(l.p.dm, "", toldOnce))
	before := l.last()
	d.kill()
	d = w.start().ready()
	l.ask()
	goesOn(t, before, l.last())
	w.slack.Say(l.p.user, l.p.dm, "!status")
	w.slackSees("the status", posted(l.p.dm, "", "Context: about"))
	d.stop()
	l.check(before)
}

// check looks at all calls and at what the chat was told. The one given is the first behind the summary.
func (l *longTalk) check(first ollama.Request) {
	t := l.w.t
	for _, r := range l.w.ollama.Chats() {
		if n := r.Chat.Options["num_ctx"]; n != float64(smallWindow) || r.Dropped > 0 || r.Status != 200 && r.Status != 0 {
			t.Errorf("call %d: num_ctx %v, %d messages dropped, status %d", r.N, n, r.Dropped, r.Status)
		}
	}
	msgs := first.Chat.Messages
	if msgs[0].Role != "system" || !strings.Contains(msgs[0].Content, theSummary) || strings.Contains(fmt.Sprint(msgs), "question 001") ||
		!strings.Contains(fmt.Sprint(msgs), fmt.Sprintf("question %03d", l.n-2)) {
		t.Errorf("the prompt behind the summary: %v", msgs)
	}
	for _, m := range msgs[1:] {
		if m.Role == "system" {
			t.Errorf("a second system message: %v", msgs)
		}
	}
	if n := l.told(toldOnce); n != 1 {
		t.Errorf("told %d times:\n%s", n, slack.Script(l.w.slack.Transcript()))
	}
	l.checkStatus()
}

// checkStatus compares what the status says with what the server counted.
func (l *longTalk) checkStatus() {
	var answer int
	for _, r := range l.w.ollama.Chats() {
		answer = r.PromptTokens
	}
	for _, post := range said(l.w.slack.Transcript(), l.p.dm, "") {
		m := regexp.MustCompile(`Context: about ([\d,]+) of ([\d,]+) tokens`).FindStringSubmatch(post)
		if m == nil {
			continue
		}
		used, of := number(l.w.t, m[1]), number(l.w.t, m[2])
		if of != smallWindow || used < answer*3/4 || used > answer*3/2 {
			l.w.t.Errorf("the status says %q, the server counted %d in the last prompt", m[0], answer)
		}
		return
	}
	l.w.t.Errorf("no status in\n%s", slack.Script(l.w.slack.Transcript()))
}

// number reads a number as the chat shows it.
func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// goesOn compares the messages of two calls as they came: the later one must begin with all of the earlier.
func goesOn(t testing.TB, before, now ollama.Request) {
	t.Helper()
	a, b := messagesOf(t, before), messagesOf(t, now)
	if a = strings.TrimSuffix(a, "]") + ","; !strings.HasPrefix(b, a) {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		t.Errorf("call %d doesn't go on where call %d ended: …%.200s… after …%.200s…", now.N, before.N, b[max(0, i-50):], a[max(0, i-50):])
	}
}

// messagesOf returns the messages of a call, byte for byte.
func messagesOf(t testing.TB, r ollama.Request) string {
	t.Helper()
	var body struct{ Messages json.RawMessage }
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.Messages)
}

// A message that is too large for the model is set aside, with its size and what the model takes: right to a sixth once the server has
// counted something, and never less than the model reads before. One of the size that it is said to take is answered, and so is what
// follows. Report 69.
func TestAMessageTooLargeIsMeasured(t *testing.T) {
	const window, large = 8192, 12_400
	w := newWorld(t, options{context: window, answer: func(r ollama.Request) ollama.Reply { return ollama.Say("answered.") }})
	w.numCtx = 4 * window
	d := w.start().ready()
	p, q := w.person("ana"), w.person("bea")
	posts := func(lines []slack.Line, who person) []string {
		return slices.DeleteFunc(said(lines, who.dm, ""), func(s string) bool { return strings.Contains(s, toldOnce) })
	}
	ask := func(who person, text, want string) string {
		t.Helper()
		n := len(posts(w.slack.Transcript(), who))
		w.slack.Say(who.user, who.dm, text)
		got := posts(w.slackSees(want, func(lines []slack.Line) bool { return len(posts(lines, who)) > n }), who)[n]
		if !strings.Contains(got, want) {
			t.Fatalf("%.30q: the chat shows %q, want %q", text, got, want)
		}
		return got
	}
	figures := func(line string) (tokens, room int) {
		t.Helper()
		m := regexp.MustCompile("About ([\\d,]+) tokens; `test` takes about ([\\d,]+) here\\.").FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("the chat is told %q", line)
		}
		return number(t, m[1]), number(t, m[2])
	}
	text := func(tokens int) string { return "NARWHAL " + strings.Repeat("word ", tokens/5)[8:] }
	if size, room := figures(ask(q, text(large), "About ")); size < window || size > large*7/6 || room > window || room < window/2 {
		t.Errorf("before anything was counted: about %d tokens, room for %d", size, room)
	}
	for range 6 {
		ask(p, text(500), "answered.")
	}
	size, room := figures(ask(p, text(large), "About "))
	if size < large*5/6 || size > large*7/6 || room > window*3/4 || room < window/2 {
		t.Errorf("about %d tokens, room for %d", size, room)
	}
	ask(p, "and now?", "answered.")
	ask(p, text(room-100), "answered.")
	ask(p, "go on", "answered.")
	d.stop()
	for _, r := range w.ollama.Chats() {
		if got := r.Chat.Options["num_ctx"]; got != float64(window) || r.Dropped > 0 {
			t.Errorf("call %d: num_ctx %v, %d messages dropped", r.N, got, r.Dropped)
		}
	}
}
