package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// asked returns what the model server was asked with this as the newest message, and waits for it.
func (w *world) asked(text string) ollama.Request {
	w.t.Helper()
	last := func(all []ollama.Request) int {
		return slices.IndexFunc(all, func(r ollama.Request) bool { return strings.HasSuffix(r.Last(), text) })
	}
	if err := w.ollama.WaitFor(within(w.t, patience), func(all []ollama.Request) bool { return last(all) >= 0 }); err != nil {
		w.t.Fatalf("the model was never asked %q: %v\n%s", text, err, w.lastLog())
	}
	all := w.ollama.Chats()
	return all[last(all)]
}

// What a conversation was told stays with it when the process is killed: the model, the instructions, the thinking, and whether it is
// followed, on both platforms.
func TestSettingsOutliveAKill(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"thinking"}, models: []ollama.Model{{Name: "other", Context: 1 << 15, Capabilities: []string{"completion", "thinking"}}}})
	d := w.start().ready()
	ana, bob := w.slack.AddUser("ana"), w.telegram.AddUser("Bob", "bob")
	ch, chat := w.slack.AddChannel("general", ana, "UBOT"), w.telegram.PrivateChat(bob)
	root := w.slack.Say(ana, ch, "@orebot hello")
	w.telegram.Say(bob, chat, "hello")
	w.slackSees("an answer", posted(ch, root, "hello"))
	for _, c := range []struct{ command, says string }{
		{"model other", "answers here"}, {"system Talk like a ZEBRA.", "I follow that"}, {"think off", "from the next message on"},
	} {
		w.slack.Say(ana, ch, "!"+c.command, slack.InThread(root))
		w.slackSees(c.command, posted(ch, root, c.says))
		w.telegram.Say(bob, chat, "/"+c.command)
		w.telegramSees(c.command, sent(chat, 0, c.says))
	}
	w.slack.Say(ana, ch, "!mute", slack.InThread(root))
	w.slackSees("that it is muted", posted(ch, root, "only when called"))
	d.kill()
	d = w.start().ready()
	w.slack.Say(ana, ch, "to myself", slack.InThread(root))
	w.slack.Say(ana, ch, "@orebot in Slack", slack.InThread(root))
	w.telegram.Say(bob, chat, "in Telegram")
	w.slackSees("the answer", posted(ch, root, "in Slack"))
	w.telegramSees("the answer", sent(chat, 0, "in Telegram"))
	for _, text := range []string{"in Slack", "in Telegram"} {
		r := w.asked(text)
		if r.Chat.Model != "other:latest" || !strings.Contains(r.Chat.Messages[0].Content, "ZEBRA") || r.Chat.Think == nil || r.Chat.Think.Bool() {
			t.Errorf("%s: the model is %q, thinking %v, told %q", text, r.Chat.Model, r.Chat.Think, r.Chat.Messages[0].Content)
		}
	}
	for _, l := range w.slack.Transcript() {
		if l.User == "UBOT" && strings.HasPrefix(l.Text, "re: to myself") {
			t.Errorf("answered though it was muted: %s", l)
		}
	}
	w.slack.Say(ana, ch, "!follow", slack.InThread(root))
	w.slackSees("that it follows", posted(ch, root, "without being called"))
	d.kill()
	w.start().ready()
	w.slack.Say(ana, ch, "without a mention", slack.InThread(root))
	w.slackSees("an answer without a mention", posted(ch, root, "without a mention"))
}

// An export is a file on both platforms with what was shown at the place, by name, and without the reasoning that wasn't; a deletion is
// confirmed by who asked for it alone.
func TestExportAndForgetInAGroup(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"thinking"}, answer: func(r ollama.Request) ollama.Reply {
		return ollama.Reply{Thinking: []string{"HIDDEN thoughts"}, Chunks: []string{"**re:** ", unlabelled(r.Last())}}
	}})
	ana, ben := w.slack.AddUser("ana"), w.slack.AddUser("ben")
	w.moreTOML = fmt.Sprintf("[access]\nadmins = [\"slack:%s\", \"slack:%s\"]\n", ana, ben)
	w.start().ready()
	bob, eve := w.telegram.AddUser("Bob", "bob"), w.telegram.AddUser("Eve", "eve")
	ch, group := w.slack.AddChannel("general", ana, ben, "UBOT"), w.telegram.AddSupergroup("G", false)
	w.telegram.Promote(group, bob, "administrator")
	w.telegram.Promote(group, eve, "creator")
	root := w.slack.Say(ana, ch, "@orebot first things")
	w.telegram.Say(bob, group, "@OreBot first things")
	w.slackSees("an answer", posted(ch, root, "first things"))
	w.telegramSees("an answer", sent(group, 0, "re: first"))
	first := func(c string) {
		w.slack.Say(ana, ch, "!"+c, slack.InThread(root))
		w.telegram.Say(bob, group, "/"+c+"@OreBot")
	}
	both := func(says string) {
		t.Helper()
		w.slackSees(says, posted(ch, root, says))
		w.telegramSees(says, sent(group, 0, says))
	}
	first("export")
	var files []string
	w.telegramSees("a file", func(lines []telegram.Line) bool {
		for _, l := range lines {
			if l.Action == "document" {
				files = []string{string(l.File.Data)}
			}
		}
		return len(files) > 0
	})
	w.slackSees("a file", func(lines []slack.Line) bool {
		return slices.ContainsFunc(lines, func(l slack.Line) bool { return l.Kind == slack.File })
	})
	for _, m := range w.slack.Thread(ch, root) {
		for _, f := range m.Files {
			files = append(files, string(w.slack.FileData(f)))
		}
	}
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	for i, name := range []string{"Bob", "ana"} {
		if !strings.Contains(files[i], "**"+name+"**, 20") || !strings.Contains(files[i], "**orebot**, 20") || !strings.Contains(files[i], "**re:** first") || strings.Contains(files[i], "HIDDEN") {
			t.Errorf("the file is\n%s", files[i])
		}
	}
	first("forget")
	both("This deletes the conversation for good")
	w.slack.Say(ben, ch, "!forget yes", slack.InThread(root))
	w.telegram.Say(eve, group, "/forget@OreBot yes")
	both("There is nothing to confirm.")
	w.slack.Say(ana, ch, "!forget yes", slack.InThread(root))
	w.telegram.Say(bob, group, "/forget@OreBot YES")
	both("Forgotten.")
	w.deleted(2)
	first("export")
	w.slackSees("an export of the fresh conversation", func(lines []slack.Line) bool { return strings.Count(slack.Script(lines), "📄 Here is") == 2 })
	w.slackSees("its file", func(lines []slack.Line) bool {
		n := 0
		for _, l := range lines {
			if l.Kind == slack.File {
				n++
			}
		}
		return n == 2
	})
	for _, m := range w.slack.Thread(ch, root) {
		for _, f := range m.Files {
			if data := string(w.slack.FileData(f)); data != files[1] && strings.Contains(data, "first things") {
				t.Errorf("what was forgotten is exported:\n%s", data)
			}
		}
	}
}
