package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orebot/internal/sim/ollama"
)

// secondHost adds a model server to a world.
func (w *world) secondHost(answer func(ollama.Request) ollama.Reply) (*ollama.Server, *port) {
	w.t.Helper()
	s := ollama.New(ollama.Options{Models: []ollama.Model{{Name: "test", Context: 1 << 17, Capabilities: []string{"completion"}}},
		Answer: answer, Parallel: 4, APIKey: ollamaKey})
	w.t.Cleanup(s.Close)
	p := serve(w.t, s.Handler())
	w.moreHosts = fmt.Sprintf(", %q", "http://"+p.addr)
	return s, p
}

// A host that dies before the first token costs a person nothing: another one answers, in the same turn. One that dies in the middle of
// an answer doesn't have it continued by another: it is made anew, and shown once. With all hosts gone the chat is told; and who comes
// back is used again.
func TestHostsFailBesideAndAfterEachOther(t *testing.T) {
	var dying atomic.Int64 // calls that are to die: -1 before the first token, n > 0 after n lines
	answer := func(r ollama.Request) ollama.Reply {
		if n := dying.Swap(0); n != 0 {
			return ollama.Reply{Chunks: []string{"half ", "an ", "answer "}, End: ollama.Cut, After: int(max(n, 0))}
		}
		return echo(0)(r)
	}
	w := newWorld(t, options{answer: answer})
	w.ollamaTOML = `retry_for = "8s"`
	second, other := w.secondHost(answer)
	d := w.start().ready()
	p := w.person("ana")
	ask := func(text, want string) {
		t.Helper()
		w.slack.Say(p.user, p.dm, text)
		w.slackSees(want, posted(p.dm, "", want))
	}
	for i := range 3 {
		ask(fmt.Sprintf("plain %d.", i), fmt.Sprintf("re: plain %d.", i))
	}
	if a, b := len(w.ollama.Chats()), len(second.Chats()); min(a, b) != 0 {
		t.Errorf("a thread stays with its host, and it asked %d and %d times", a, b)
	}
	dying.Store(-1)
	ask("early.", "re: early.")
	if a, b := len(w.ollama.Chats()), len(second.Chats()); min(a, b) != 1 {
		t.Errorf("the other host answers what the first one couldn't: %d and %d calls", a, b)
	}
	dying.Store(2)
	ask("late.", "re: late.")
	w.model.close()
	ask("one down.", "re: one down.")
	other.close()
	ask("both down?", "The model server hasn't answered for")
	other.open(t)
	d.ready()
	ask("one back.", "re: one back.")
	w.model.open(t)
	other.close()
	ask("the other back.", "re: the other back.")
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	all := said(w.slack.Transcript(), p.dm, "")
	for _, text := range all {
		if n := strings.Count(strings.Join(all, "\n"), text); n != 1 || strings.Contains(text, "half") {
			t.Errorf("%q is shown %d times", text, n)
		}
	}
	if len(all) != 9 {
		t.Errorf("9 questions, and %d ends: %q", len(all), all)
	}
}

// Reports 64 and 75, and the fair queue: one person asks fifty things in one thread and twenty in others; another, who comes last, asks one.
// It is answered among the next, nobody is dropped, and nobody's order is changed.
func TestAFloodDelaysNobodyElse(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		<-gate
		return echo(0)(r)
	}})
	var once sync.Once
	open := func() { once.Do(func() { close(gate) }) }
	t.Cleanup(open)
	w.ollamaTOML = "max_concurrent = 1"
	w.moreTOML = "[chat]\nqueue = \"fifo\"\n"
	d := w.start().ready()
	ana, ben := w.slack.AddUser("ana"), w.slack.AddUser("ben")
	channel, dm := w.slack.AddChannel("general", ana, ben, "UBOT"), w.slack.OpenDM(ana)
	for i := range 50 {
		w.slack.Say(ana, dm, fmt.Sprintf("flood %02d.", i))
	}
	var roots []string
	for i := range 20 {
		roots = append(roots, w.slack.Say(ana, channel, fmt.Sprintf("<@UBOT> thread %02d.", i)))
	}
	waiting := func(n int) func() bool {
		return func() bool { return strings.Count(w.must([]string{"queue"}), "being answered") >= n }
	}
	eventually(t, "every thread has a call in the line", waiting(21))
	root := w.slack.Say(ben, channel, "<@UBOT> just one.")
	eventually(t, "ben has one too", waiting(22))
	open()
	w.slackSees("the one answer", posted(channel, root, "re: just one."))
	at := slices.IndexFunc(w.ollama.Chats(), func(r ollama.Request) bool { return strings.Contains(r.Last(), "just one.") })
	if at > 10 { // 71 calls wait
		t.Errorf("the one question is call %d", at+1)
	}
	w.slackSees("the last of the flood", posted(dm, "", "flood 49."))
	for i, r := range roots {
		w.slackSees("each thread's answer", posted(channel, r, fmt.Sprintf("re: thread %02d.", i)))
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i, text := range said(w.slack.Transcript(), dm, "") {
		if want := fmt.Sprintf("re: flood %02d.", i); text != want {
			t.Errorf("answer %d is %q", i, text)
		}
	}
}
