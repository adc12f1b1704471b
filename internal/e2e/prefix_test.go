package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// Over thirty questions of two people, with a picture, a text file, tools, what is heard, commands in between, a broken answer, an orderly
// restart and a kill, each prompt that the server gets begins with all of the one before, byte for byte, and nothing else of the call
// changes: so its cache serves.
func TestPromptsGoOnByteForByte(t *testing.T) {
	const n = 30
	var broken atomic.Int32
	w := newWorld(t, options{vision: true, abilities: []string{"tools"}, answer: func(r ollama.Request) ollama.Reply {
		last := r.Chat.Messages[len(r.Chat.Messages)-1]
		switch {
		case last.Role == "tool":
			return ollama.Say("It is ", "late.")
		case strings.Contains(last.Content, "what time"):
			return ollama.Reply{ToolCalls: []ollama.ToolCall{{ID: "c1", Name: "get_time", Arguments: `{"tz":"UTC"}`}}}
		case strings.Contains(last.Content, "question 18") && broken.Add(1) == 1:
			return ollama.Reply{Chunks: []string{"half ", "of it"}, End: ollama.Cut, After: 1}
		}
		return ollama.Say("re: ", unlabelled(r.Last()), " – with <odd> & \u2028 \"quoted\" words\n")
	}})
	d := w.start().ready()
	ana, bea := w.slack.AddUser("ana"), w.slack.AddUser("bea")
	channel := w.slack.AddChannel("general", ana, bea, "UBOT")
	root := w.slack.Say(ana, channel, "<@UBOT> question 00")
	for i := 1; i <= n; i++ {
		w.slackSees(fmt.Sprint("answer ", i-1), func(lines []slack.Line) bool { return len(answersOnly(lines, channel, root)) >= i })
		switch i {
		case 15:
			d.stop()
			d = w.start().ready()
		case 22:
			eventually(t, "nothing waits", w.idle)
			d.kill()
			d = w.start().ready()
		}
		who, q := []string{ana, bea}[i/3%2], fmt.Sprintf("<@UBOT> question %02d", i)
		switch i % 5 {
		case 1:
			w.slack.Say(bea, channel, fmt.Sprintf("an aside <%d>", i), slack.InThread(root))
		case 2:
			w.slack.Say(ana, channel, []string{"!status", "!help", "!usage", "!whoami", "!model", "!models"}[i/5], slack.InThread(root))
		case 3:
			q += " what time is it?"
		case 4:
			f := slack.SharedFile{Name: fmt.Sprintf("p%d.png", i), MIME: "image/png", Data: picture(byte(i))}
			if i%2 == 0 {
				f = slack.SharedFile{Name: fmt.Sprintf("t%d.go", i), MIME: "text/plain", Data: []byte("package x // <&>")}
			}
			w.slack.Share(who, channel, q, []slack.SharedFile{f}, slack.InThread(root))
			continue
		}
		w.slack.Say(who, channel, q, slack.InThread(root))
	}
	w.slackSees("the last answer", func(lines []slack.Line) bool { return len(answersOnly(lines, channel, root)) > n })
	d.stop()
	chats := w.ollama.Chats()
	if len(chats) < n+n/5 {
		t.Fatalf("only %d calls", len(chats))
	}
	for i := 1; i < len(chats); i++ {
		if a, b := messagesOf(t, chats[i-1]), messagesOf(t, chats[i]); a != b {
			goesOn(t, chats[i-1], chats[i])
		}
		if a, b := besideMessages(t, chats[i-1]), besideMessages(t, chats[i]); a != b {
			t.Errorf("call %d asks otherwise than the one before: %s, %s", chats[i].N, b, a)
		}
	}
	last := string(chats[len(chats)-1].Raw)
	for _, part := range []string{`"images"`, "package x", "an aside", `"tool_calls"`, "question 00", "question 30"} {
		if !strings.Contains(last, part) {
			t.Errorf("the last prompt holds no %s", part)
		}
	}
}

// answersOnly returns the bot's answers in a thread: not what commands show.
func answersOnly(lines []slack.Line, channel, thread string) (out []string) {
	for _, text := range said(lines, channel, thread) {
		if strings.HasPrefix(text, "re: ") || strings.HasPrefix(text, "It is late.") {
			out = append(out, text)
		}
	}
	return out
}

// besideMessages returns what a call says beside its messages.
func besideMessages(t testing.TB, r ollama.Request) string {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "messages")
	out, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
