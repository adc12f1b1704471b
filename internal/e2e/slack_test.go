package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// privateText stands in what people and models write: no log line above debug may hold it.
const privateText = "ZEBRA"

// tellsNothing checks the logs: what people and models write stands in debug lines alone, and messages are constant texts.
func (w *world) tellsNothing() {
	w.t.Helper()
	for _, path := range w.logs {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var l struct{ Level, Msg string }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				w.t.Errorf("%v: %s", err, line)
			}
			if l.Level != "DEBUG" && strings.Contains(line, privateText) || strings.ContainsAny(l.Msg, "0123456789") || strings.Contains(line, "response_url/") {
				w.t.Errorf("%s", line)
			}
		}
	}
}

// failing answers with what it is asked, and a question with "fail" in it not at all until well.
func failing(well func() bool) func(ollama.Request) ollama.Reply {
	return func(r ollama.Request) ollama.Reply {
		if strings.Contains(r.Last(), "fail") && !well() {
			return ollama.Reply{Raw: &ollama.Raw{Status: http.StatusInternalServerError, Body: `{"error":"boom"}`}}
		}
		return ollama.Say("re: ", r.Last())
	}
}

// whispers are what one person alone saw in a channel.
func whispers(lines []slack.Line, channel string) []slack.Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l slack.Line) bool { return l.Kind != slack.Ephemeral || l.Channel != channel })
}

func whispered(channel, text string) func([]slack.Line) bool {
	return func(lines []slack.Line) bool {
		return slices.ContainsFunc(whispers(lines, channel), func(l slack.Line) bool { return strings.Contains(l.Text, text) })
	}
}

// A working day in Slack: every way to talk to the bot. FS 59 and 60: a command stays in its conversation, and in threads, where Slack
// runs no slash commands, "!name" and "@orebot name" do.
func TestADayInSlack(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	ana, ben := w.slack.AddUser("ana"), w.slack.AddUser("ben")
	dm, ch, out := w.slack.OpenDM(ana), w.slack.AddChannel("general", ana, ben, "UBOT"), w.slack.AddChannel("elsewhere", ana)

	root := w.slack.Say(ana, dm, "hello "+privateText)
	w.slackSees("an answer in the DM", posted(dm, "", "re: hello "+privateText))
	w.slack.Say(ana, dm, "below", slack.InThread(root))
	w.slackSees("one in its thread", posted(dm, root, "re: below"))
	w.slack.Say(ana, dm, "\x00\u202eturned\u202c \x07 "+privateText)
	w.slackSees("an answer to odd characters", posted(dm, "", "turned"))
	w.slack.Say(ana, dm, strings.Repeat(privateText+" ", 200_000))
	w.slackSees("a line about what is too long", posted(dm, "", "262,144 is the limit"))
	w.slack.Share(ana, dm, "", []slack.SharedFile{{Name: "a.go", MIME: "text/plain", Data: []byte("package " + privateText)}})
	w.slackSees("an answer to a file", posted(dm, "", "package "+privateText))

	one := w.slack.Say(ana, ch, "@orebot one")
	w.slackSees("an answer in the channel", posted(ch, one, "one"))
	w.slack.Say(ana, ch, "follow-up", slack.InThread(one))
	w.slackSees("one to the follow-up", posted(ch, one, "follow-up"))
	w.slack.Say(ben, ch, "me too", slack.InThread(one))
	w.slack.Say(ana, ch, "!model test", slack.InThread(one))
	w.slackSees("a command's reply in the thread", posted(ch, one, "answers here"))
	w.slack.Say(ana, ch, "@orebot status", slack.InThread(one))
	w.slackSees("another one's", posted(ch, one, "Queue: nothing"))

	w.slack.Slash(ana, out, "help")
	w.slackSees("help where the bot isn't", whispered(out, "`!help`"))
	w.slack.Slash(ana, ch, "stop")
	w.slackSees("why that can't be", whispered(ch, "Slack can't run slash commands in threads: write `!stop` there."))
	w.slack.Slash(ana, dm, "status")
	w.slackSees("the status of the DM", whispered(dm, "Model: `test`"))
	for _, l := range w.slack.Transcript() {
		if l.User == "UBOT" && strings.Contains(l.Text, "me too") {
			t.Errorf("answered what was only heard: %s", l)
		}
	}
	if code := d.stop(); code != 0 || w.slack.Refused() != 0 {
		t.Errorf("exit code %d, refused %v", code, w.slack.Refusals())
	}
	w.tellsNothing()
}

// The buttons under a notice do what they say, in a thread, in a DM, and under what only one person sees.
func TestSlackButtons(t *testing.T) {
	broken := make(chan struct{})
	well := func() bool {
		select {
		case <-broken:
			return true
		default:
			return false
		}
	}
	w := newWorld(t, options{answer: failing(well)})
	w.ollamaTOML = `retry_for = "1s"`
	w.start().ready()
	ana := w.slack.AddUser("ana")
	dm, ch := w.slack.OpenDM(ana), w.slack.AddChannel("general", ana, "UBOT")
	w.slack.Say(ana, dm, "fail one")
	root := w.slack.Say(ana, ch, "@orebot fail two")
	w.slackSees("a notice in the DM", posted(dm, "", "`!retry`"))
	lines := w.slackSees("a notice in the thread", posted(ch, root, "`!retry`"))
	close(broken)
	for _, l := range lines {
		if l.User == "UBOT" && strings.Contains(l.Text, "`!retry`") && w.slack.Click(ana, l.Channel, l.TS, "orebot:retry") == nil {
			t.Errorf("no button: %s", l)
		}
	}
	w.slackSees("the answer in the DM", posted(dm, "", "re: fail one"))
	w.slackSees("the answer in the thread", posted(ch, root, "fail two"))
	w.slack.Slash(ana, ch, "hlep")
	lines = w.slackSees("a suggestion", whispered(ch, "Did you mean `!help`?"))
	for _, l := range whispers(lines, ch) {
		if strings.Contains(l.Text, "Did you mean") && w.slack.Click(ana, ch, l.TS, "orebot:help") == nil {
			t.Errorf("no button: %s", l)
		}
	}
	w.slackSees("help", whispered(ch, "`!status`"))
}

// A status, or a reaction where there is none, of a turn that died with its process goes with the answer of the next life. FS 32: while
// a status stands, some of Slack's clients let nobody write.
func TestSlackSignsOfADeadTurn(t *testing.T) {
	for _, kind := range []string{slack.Status, slack.Reaction} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, options{answer: echo(3 * time.Second)})
			if kind == slack.Reaction {
				w.slack.Faults.Next("assistant.threads.setStatus", fault.Fault{Status: 404}, fault.Fault{Status: 404})
			}
			d := w.start().ready()
			ana := w.slack.AddUser("ana")
			ch := w.slack.AddChannel("general", ana, "UBOT")
			root := w.slack.Say(ana, ch, "@orebot well?")
			w.slackSees("a sign", func(lines []slack.Line) bool {
				return slices.ContainsFunc(lines, func(l slack.Line) bool { return l.Kind == kind && l.User == "UBOT" && l.Text != "" })
			})
			d.kill()
			w.start()
			w.slackSees("the answer", posted(ch, root, "well?"))
			eventually(t, "the sign is gone", func() bool {
				return w.slack.Status(ch, root) == "" && len(w.slack.Thread(ch, root)[0].Reactions) == 0
			})
			if n := len(said(w.slack.Transcript(), ch, root)); n != 1 {
				t.Errorf("%d answers", n)
			}
		})
	}
}
