package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
	"orebot/store/bolt"
)

var linkCode = regexp.MustCompile(`[A-Z0-9]{4}-[A-Z0-9]{4}`)

// linkCodeIn waits for a code that the bot tells in Slack, and returns it with its line.
func (w *world) linkCodeIn(channel string) (code string, line slack.Line) {
	w.t.Helper()
	w.slackSees("a code", func(lines []slack.Line) bool {
		for _, l := range lines {
			if l.Channel == channel && l.User == "UBOT" && linkCode.MatchString(l.Text) {
				code, line = linkCode.FindString(l.Text), l
			}
		}
		return code != ""
	})
	return code, line
}

// linkDM links a DM of Slack with a private chat of Telegram, and returns once the chat was told.
func (w *world) linkDM(user, dm string, who telegram.User, chat int64) {
	w.t.Helper()
	w.slack.Say(user, dm, "!link")
	code, _ := w.linkCodeIn(dm)
	w.telegram.Say(who, chat, "/start "+code)
	w.telegramSees("the link", sent(chat, 0, "Linked with"))
}

// slackShows counts the posts of the bot at a place that hold a text.
func (w *world) slackShows(channel, text string) (n int) {
	for _, l := range w.slack.Transcript() {
		if l.Kind == slack.Post && l.User == "UBOT" && l.Channel == channel && strings.Contains(l.Text, text) {
			n++
		}
	}
	return n
}

// sound checks every record of a stopped daemon's file.
func (w *world) sound() {
	w.t.Helper()
	s, err := bolt.Open(filepath.Join(w.state(), "orebot.db"), bolt.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// A Slack DM and a Telegram chat share a conversation: what is written at one place appears at the other with its author's name, the
// answer at both, each exactly once, through kills at the worst moments; then each has its own again.
func TestALinkedConversation(t *testing.T) {
	gate := make(chan struct{}, 100)
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		if strings.Contains(r.Last(), "slowly") {
			<-gate
		}
		return echo(0)(r)
	}})
	d := w.start().ready()
	ana, bea := w.slack.AddUser("ana"), w.telegram.AddUser("Bea", "bea")
	dm, chat := w.slack.OpenDM(ana), w.telegram.PrivateChat(bea)
	w.telegram.Say(bea, chat, "mine alone")
	w.telegramSees("the first answer", sent(chat, 0, "re: mine alone"))
	w.slack.Say(ana, dm, "hello from before")
	w.slackSees("the first answer", posted(dm, "", "re: hello from before"))
	w.slack.Say(ana, dm, "!link")
	code, line := w.linkCodeIn(dm)
	if !strings.Contains(line.Text, "t.me/OreBot?start="+code) {
		t.Errorf("no deep link in %q", line.Text)
	}
	w.telegram.Say(bea, chat, "/start "+code)
	d.kill()
	d = w.start().ready()
	w.telegramSees("that it is linked", sent(chat, 0, "Linked with the conversation on Slack"))
	w.slackSees("that it is linked", posted(dm, "", "Bea has joined this conversation from Telegram"))
	w.telegram.Say(bea, chat, "a question from Telegram")
	w.slackSees("the question", posted(dm, "", "*Bea* wrote on Telegram: a question from Telegram"))
	w.slackSees("its answer", posted(dm, "", "re: a question from Telegram"))
	w.telegramSees("its answer", sent(chat, 0, "re: a question from Telegram"))
	w.slack.Say(ana, dm, "one from Slack, slowly")
	w.telegramSees("the other question", sent(chat, 0, "(Slack):\none from Slack, slowly"))
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) >= 4 })
	d.kill() // while the model thinks
	d = w.start().ready()
	eventually(t, "the model is asked again", func() bool { return len(w.ollama.Chats()) >= 5 })
	for range 50 {
		gate <- struct{}{}
	}
	w.telegramSees("the other answer", sent(chat, 0, "re: one from Slack, slowly"))
	w.slackSees("the other answer", posted(dm, "", "re: one from Slack, slowly"))
	chats := w.ollama.Chats()
	if all := fmt.Sprint(chats[len(chats)-1].Chat.Messages); !strings.Contains(all, "re: hello from before") || !strings.Contains(all, "a question from Telegram") ||
		strings.Contains(all, "mine alone") {
		t.Errorf("the model is shown %s", all)
	}
	w.telegram.Say(bea, chat, "/link history 20")
	w.telegramSees("what was said before", sent(chat, 0, "re: hello from before"))
	w.slack.Say(ana, dm, "!status")
	w.slackSees("the links", posted(dm, "", "Linked with: Telegram"))
	w.telegram.Say(bea, chat, "/unlink")
	w.telegramSees("the end of the link", sent(chat, 0, "The link has ended"))
	w.slackSees("the end of the link", posted(dm, "", "The link between these places has ended"))
	d.kill()
	d = w.start().ready()
	w.telegram.Say(bea, chat, "mine again")
	w.telegramSees("an answer", sent(chat, 0, "re: mine again"))
	w.slack.Say(ana, dm, "and mine")
	w.slackSees("an answer", posted(dm, "", "re: and mine"))
	eventually(t, "nothing waits", w.idle)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.sound()
	chats = w.ollama.Chats()
	for _, c := range chats[len(chats)-2:] {
		all := fmt.Sprint(c.Chat.Messages)
		if strings.Contains(all, "mine again") && (!strings.Contains(all, "re: mine alone") || strings.Contains(all, "Slack")) ||
			strings.Contains(all, "and mine") && strings.Contains(all, "mine again") {
			t.Errorf("after the link the model is shown %s", all)
		}
	}
	for text, n := range map[string]int{"wrote on Telegram: a question from Telegram": 1, "re: a question": 1, "re: one from Slack": 1, "one from Slack": 1,
		"mine alone": 0, "mine again": 0, "has joined": 1} {
		if got := w.slackShows(dm, text); got != n {
			t.Errorf("Slack shows %q %d times, want %d", text, got, n)
		}
	}
	seen := w.telegram.Transcript()
	for text, n := range map[string]int{"(Slack):\none from Slack": 1, "re: a question": 1, "and mine": 0, "Linked with": 1} {
		got := 0
		for _, l := range copies(seen, chat) {
			if l.Action == "send" && strings.Contains(l.Text, text) && !strings.Contains(l.Text, "may be a repeat") && !strings.Contains(l.Text, "hello from before") {
				got++
			}
		}
		if got != n {
			t.Errorf("Telegram shows %q %d times, want %d", text, got, n)
		}
	}
}

// A thread of a channel and a Telegram group, by their admins: the code is for one person's eyes, the group may move, and being thrown
// out there leaves the channel alone. A stranger gets in by no code.
func TestALinkedThreadAndGroup(t *testing.T) {
	w := newWorld(t, options{})
	ana, bea := w.slack.AddUser("ana"), w.telegram.AddUser("Bea", "bea")
	w.access = "pairing"
	w.moreTOML = "[link]\nenabled = \"threads\"\n[access]\nadmins = [\"slack:" + ana + "\"]\n"
	d := w.start().ready()
	channel := w.slack.AddChannel("general", ana, "UBOT")
	group := w.telegram.AddGroup("G")
	w.telegram.Promote(group, bea, "administrator")
	w.must([]string{"access", "allow", fmt.Sprintf("telegram:%d", bea.ID)})
	w.must([]string{"access", "allow", fmt.Sprintf("telegram:%d", group)})
	root := w.slack.Say(ana, channel, "<@UBOT> hello")
	w.slackSees("the first answer", posted(channel, root, "re: hello"))
	w.slack.Say(ana, channel, "!link", slack.InThread(root))
	code, line := w.linkCodeIn(channel)
	if line.Kind != slack.Ephemeral || line.To != ana || line.Thread != root {
		t.Errorf("the code is told by %v to %q", line, line.To)
	}
	cem := w.telegram.AddUser("Cem", "cem")
	stranger := w.telegram.PrivateChat(cem)
	w.telegram.Say(cem, stranger, "/start "+code)
	w.telegramSees("a stranger's answer", sent(stranger, 0, "I don't know you yet"))
	w.telegram.Say(bea, group, "/link@OreBot "+code)
	w.telegramSees("that it is linked", sent(group, 0, "Linked with the conversation on Slack"))
	moved := w.telegram.Migrate(group)
	w.slack.Say(ana, channel, "<@UBOT> from the channel", slack.InThread(root))
	w.telegramSees("the question, where the group is now", sent(moved, 0, "(Slack):\n"))
	w.telegramSees("its answer", sent(moved, 0, "re: from the channel"))
	w.telegram.Say(bea, moved, "@OreBot from the group")
	w.slackSees("the answer", posted(channel, root, "re: from the group"))
	w.slackSees("the question", posted(channel, root, "*Bea* wrote on Telegram: from the group"))
	w.telegram.Kick(moved, bea)
	w.slack.Say(ana, channel, "<@UBOT> alone", slack.InThread(root))
	w.slackSees("an answer all the same", posted(channel, root, "re: alone"))
	eventually(t, "nothing waits", w.idle)
	d.kill()
	d = w.start().ready()
	w.slack.Say(ana, channel, "!unlink", slack.InThread(root))
	w.slackSees("the end of the link", posted(channel, root, "The link has ended"))
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.sound()
	if n := w.slackShows(channel, "from the group"); n != 2 {
		t.Errorf("Slack shows the group's question and answer %d times", n)
	}
}
