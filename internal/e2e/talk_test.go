package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

func TestEveryPlaceIsAnswered(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()

	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "in the dm")
	w.slackSees("the answer in the DM", posted(dm, "", "re: in the dm"))

	channel := w.slack.AddChannel("general", ana, "UBOT")
	root := w.slack.Say(ana, channel, "<@UBOT> in a thread")
	w.slackSees("the answer in the thread", posted(channel, root, "re: in a thread"))
	w.slack.Say(ana, channel, "and on", slack.InThread(root))
	w.slackSees("the follow-up", posted(channel, root, "re: and on"))

	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	w.telegram.Say(bob, chat, "in a chat")
	w.telegramSees("the answer in the chat", sent(chat, 0, "re: in a chat"))

	group := w.telegram.AddSupergroup("forum", true)
	topic := w.telegram.AddTopic(group, "a topic")
	w.telegram.Say(bob, group, "@OreBot in a topic", telegram.Topic(topic))
	w.telegramSees("the answer in the topic", sent(group, topic, "re: in a topic"))

	if n := w.slack.Refused(); n != 0 {
		t.Errorf("Slack refused %d posts: %v", n, w.slack.Refusals())
	}
	eventually(t, "three messages in Slack are counted as answered", func() bool {
		return d.figure(`orebot_messages_total{outcome="answered",platform="slack"}`) == 3
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	logIsJSON(t, d.log)
}

// logIsJSON reads every line of a log.
func logIsJSON(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var v map[string]any
		if json.Unmarshal([]byte(line), &v) != nil || v["msg"] == nil || v["level"] == nil {
			t.Errorf("log line %q", line)
		}
	}
}

func TestTwoThreadsNeverMix(t *testing.T) {
	w := newWorld(t, options{})
	w.start().ready()
	ana := w.slack.AddUser("ana")
	channel := w.slack.AddChannel("general", ana, "UBOT")
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	apple := w.slack.Say(ana, channel, "<@UBOT> apple 0")
	pear := w.slack.Say(ana, channel, "<@UBOT> pear 0")
	for i := 1; i <= 10; i++ {
		w.slack.Say(ana, channel, fmt.Sprintf("apple %d", i), slack.InThread(apple))
		w.slack.Say(ana, channel, fmt.Sprintf("pear %d", i), slack.InThread(pear))
		w.telegram.Say(bob, chat, fmt.Sprintf("plum %d", i))
	}
	w.slackSees("the last apple", posted(channel, apple, "apple 10"))
	w.slackSees("the last pear", posted(channel, pear, "pear 10"))
	w.telegramSees("the last plum", sent(chat, 0, "plum 10"))
	for _, l := range w.slack.Transcript() {
		if l.Thread == apple && strings.Contains(l.Text, "pear") || l.Thread == pear && strings.Contains(l.Text, "apple") {
			t.Errorf("a stranger in the thread: %s", l)
		}
	}
	for _, r := range w.ollama.Chats() {
		if fruits := fruitsIn(string(r.Raw)); len(fruits) != 1 {
			t.Errorf("one prompt holds %v", fruits)
		}
	}
}

func fruitsIn(s string) []string {
	return slices.DeleteFunc([]string{"apple", "pear", "plum"}, func(f string) bool { return !strings.Contains(s, f) })
}

// Report 83: the next question is asked with what was said before the restart.
func TestHistorySurvivesARestart(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "my name is Ana")
	w.slackSees("the answer", posted(dm, "", "re: my name is Ana"))
	if code := d.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	w.start().ready()
	w.slack.Say(ana, dm, "who am I?")
	w.slackSees("the second answer", posted(dm, "", "re: who am I?"))
	chats := w.ollama.Chats()
	var got []string
	for _, m := range chats[len(chats)-1].Chat.Messages {
		if m.Role != "system" {
			got = append(got, m.Role+": "+m.Content)
		}
	}
	want := []string{"user: my name is Ana", "assistant: re: my name is Ana", "user: who am I?"}
	if !slices.Equal(got, want) {
		t.Errorf("the request after the restart carries %q, want %q", got, want)
	}
}

func TestAnAnswerInFlightIsFinishedAtSIGTERM(t *testing.T) {
	w := newWorld(t, options{answer: echo(1500_000_000)})
	d := w.start().ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "slowly")
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 1 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !posted(dm, "", "re: slowly")(w.slack.Transcript()) {
		t.Errorf("the answer that was in flight wasn't delivered before the end; log:\n%s", w.lastLog())
	}
}

func TestOllamaDownThenUp(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	w.model.close()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "anybody there?")
	eventually(t, "/readyz names the model host", func() bool {
		code, body := d.get("/readyz")
		return code == 503 && strings.Contains(body, w.model.addr)
	})
	if posted(dm, "", "")(w.slack.Transcript()) {
		t.Errorf("something was said before the model server was given time:\n%s", slack.Script(w.slack.Transcript()))
	}
	w.model.open(t)
	w.slackSees("the answer", posted(dm, "", "re: anybody there?"))
	d.ready()
}

func TestOllamaStaysDown(t *testing.T) {
	w := newWorld(t, options{})
	w.ollamaTOML = `retry_for = "1s"`
	w.model.close()
	d := w.start()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	if err := w.slack.WaitConnected(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.slack.Say(ana, dm, "anybody there?")
	w.slackSees("a notice", posted(dm, "", "hasn't answered for"))
	w.model.open(t)
	d.ready()
	w.slack.Say(ana, dm, "and now?")
	w.slackSees("the answer", posted(dm, "", "re: and now?"))
}
