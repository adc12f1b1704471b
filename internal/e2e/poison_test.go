package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// crashing is a model whose runner dies of what a prompt holds: of certain words, of a picture, of the result of a tool. The sort of
// death is the word behind "poison".
type crashing struct {
	mu   sync.Mutex
	slow time.Duration
}

func (c *crashing) answer(r ollama.Request) ollama.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := r.Chat.Messages[len(r.Chat.Messages)-1]
	half := []string{"half ", "of ", "an ", "answer"}
	reply := ollama.Say("well: ", r.Last())
	for _, m := range r.Chat.Messages {
		switch {
		case strings.Contains(m.Content, "poison at once"), len(m.Images) > 0, m.Role == "tool":
			reply = ollama.Reply{End: ollama.Fail}
		case strings.Contains(m.Content, "poison in the middle"):
			reply = ollama.Reply{Chunks: half, End: ollama.Fail, After: 3}
		case strings.Contains(m.Content, "poison that cuts"):
			reply = ollama.Reply{Chunks: half, End: ollama.Cut, After: 2}
		case strings.Contains(m.Content, "poison that ends"):
			reply = ollama.Reply{Chunks: half, End: ollama.EOF, After: 2}
		}
	}
	if reply.End == ollama.Done && strings.Contains(last.Content, "use the tool") {
		reply = ollama.Reply{ToolCalls: []ollama.ToolCall{{Name: "get_time", Arguments: `{}`}}}
	}
	reply.Delay = c.slow
	return reply
}

const (
	brokeOff = "The model stopped without an answer; I tried twice."
	leftOut  = "I've set your message aside, so that the next one works."
)

// A question, a picture or the result of a tool at which the model's runner dies each time costs its own message only, in whatever way it
// dies, two people with the same question included: the chat is told once, the next message is answered without it, retry asks it again,
// and a kill -9 in the middle changes nothing.
func TestAQuestionThatCrashesTheRunner(t *testing.T) {
	c := &crashing{}
	w := newWorld(t, options{answer: c.answer, abilities: []string{"tools"}, vision: true})
	d := w.start().ready()
	questions := []string{"poison at once", "poison at once", "poison in the middle", "poison that cuts", "poison that ends", "use the tool"}
	var who []person
	for i, q := range questions {
		who = append(who, w.person(fmt.Sprint("p", i)))
		w.slack.Say(who[i].user, who[i].dm, q)
	}
	artist := w.person("artist")
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"), make([]byte, 64)...)
	w.telegram.Say(artist.bob, artist.chat, "look", telegram.Photo(telegram.File{Name: "p.png", MIME: "image/png", Data: png}))
	for i, q := range questions {
		w.slackSees(q, posted(who[i].dm, "", leftOut))
		w.slack.Say(who[i].user, who[i].dm, "next")
		w.slackSees(q+": the next answer", posted(who[i].dm, "", "well: next"))
	}
	w.telegramSees("the picture's end", sent(artist.chat, 0, leftOut))
	w.telegram.Say(artist.bob, artist.chat, "next")
	w.telegramSees("the next answer", sent(artist.chat, 0, "well: next"))
	for i, q := range questions {
		if got := said(w.slack.Transcript(), who[i].dm, ""); len(got) != 2 || !strings.Contains(got[0], brokeOff) {
			t.Errorf("%s: the chat shows %q", q, got)
		}
	}

	p := who[0]
	w.slack.Say(p.user, p.dm, "poison at once")
	w.slackSees("the end of another one", saidTimes(p.dm, leftOut, 2))
	asked := len(w.ollama.Chats())
	w.slack.Say(p.user, p.dm, "!retry")
	w.slackSees("the end of what was asked again", saidTimes(p.dm, leftOut, 3))
	if n := len(w.ollama.Chats()) - asked; n != 3 {
		t.Errorf("retry asked %d times, want two and the control", n)
	}

	c.mu.Lock()
	c.slow = 200 * time.Millisecond
	c.mu.Unlock()
	for i := range 3 { // in the first attempt, in the second, in the control
		p := who[1]
		before := len(w.ollama.Chats())
		w.slack.Say(p.user, p.dm, "poison at once")
		if err := w.ollama.WaitFor(within(t, patience), func([]ollama.Request) bool { return len(w.ollama.Chats()) > before+i }); err != nil {
			t.Fatal(err)
		}
		d.kill()
		d = w.start().ready()
		w.slackSees("its end", saidTimes(p.dm, leftOut, i+2))
		w.slack.Say(p.user, p.dm, fmt.Sprint("after kill ", i))
		w.slackSees("the answer", posted(p.dm, "", fmt.Sprint("well: after kill ", i)))
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if all := slack.Script(w.slack.Transcript()); strings.Contains(all, "half") {
		t.Errorf("people were shown half an answer:\n%s", all)
	}
}

// saidTimes reports whether a text was posted in a DM so many times.
func saidTimes(dm, text string, n int) func([]slack.Line) bool {
	return func(lines []slack.Line) bool {
		return strings.Count(strings.Join(said(lines, dm, ""), "\n"), text) >= n
	}
}
