package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// person is somebody with a DM on Slack and a chat on Telegram.
type person struct {
	user, dm string
	bob      telegram.User
	chat     int64
}

func (w *world) person(name string) person {
	p := person{user: w.slack.AddUser(name), bob: w.telegram.AddUser(name, name)}
	p.dm, p.chat = w.slack.OpenDM(p.user), w.telegram.PrivateChat(p.bob)
	return p
}

func (w *world) people(n int) []person {
	out := make([]person, n)
	for i := range out {
		out[i] = w.person(fmt.Sprintf("person%d", i))
	}
	return out
}

// ask writes a text on both platforms.
func (p person) ask(w *world, text string) {
	w.slack.Say(p.user, p.dm, text)
	w.telegram.Say(p.bob, p.chat, text)
}

// answered waits until the bot has said something to each on both platforms.
func (w *world) answered(who []person) {
	w.t.Helper()
	for _, p := range who {
		w.slackSees("an answer in "+p.dm, posted(p.dm, "", ""))
		w.telegramSees(fmt.Sprint("an answer in ", p.chat), sent(p.chat, 0, ""))
	}
}

// said returns what the bot posted at a place in Slack.
func said(lines []slack.Line, channel, thread string) []string {
	var out []string
	for _, l := range lines {
		if l.Kind == slack.Post && l.User == "UBOT" && l.Channel == channel && l.Thread == thread {
			out = append(out, l.Text)
		}
	}
	return out
}

// hostile are answers that a model might give, and shouldn't.
func hostile() map[string]ollama.Reply {
	raw := func(content string) ollama.Reply {
		return ollama.Reply{Raw: &ollama.Raw{Status: http.StatusOK, Body: `{"model":"test","message":{"role":"assistant","content":"` +
			content + "\"},\"done\":false}\n" + `{"model":"test","message":{"role":"assistant"},"done":true,"done_reason":"stop"}` + "\n"}}
	}
	return map[string]ollama.Reply{
		"long": ollama.Say(strings.Repeat("word and more words. ", 2000)), "word": ollama.Say(strings.Repeat("x", 20_000)),
		"pings": ollama.Say("<!channel> <!here> <@U1> @channel @everyone <!subteam^S1>"), "tags": ollama.Say("</b> <b> <script> & &amp; &nbsp; <a href='x'>"),
		"nul": ollama.Say("a\x00b\x01c\x7f\x1b[31m"), "invalid": raw("a\xff\xfeb\\ud800"),
		"fence": ollama.Say("```go\n", strings.Repeat("x := 1 // < & >\n", 1000), "```"), "open": ollama.Say("text\n```\n", strings.Repeat("`y`\n", 1000)),
		"lines": ollama.Say(strings.Repeat("\n", 10_000)), "blank": ollama.Say(" \n\t\u00a0"), "nothing": ollama.Say(""),
		"accents": ollama.Say("a", strings.Repeat("\u0301", 9000)), "families": ollama.Say(strings.Repeat("👩‍👩‍👧‍👦", 900)),
		"quotes": ollama.Say(strings.Repeat("> ", 1000), "deep"), "brackets": ollama.Say(strings.Repeat("[", 5000)), "stars": ollama.Say(strings.Repeat("*", 5000)),
		"links": ollama.Say(strings.Repeat("[a](https://e.x/) ", 300)), "comment": ollama.Say("<!-- nothing -->"), "link": ollama.Say("[](http://x)"),
		"table": ollama.Say("|a|b|\n|-|-|\n", strings.Repeat("|c|dddddddddd|\n", 200)), "command": ollama.Say("/stop"), "mail": ollama.Say("\u202e evil \u202c"),
	}
}

// Whatever the model says, both platforms take it, people see it, and nobody is pinged by it.
// Report 27.
func TestHostileAnswersAreShownAndPingNobody(t *testing.T) {
	answers := hostile()
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply { return answers[r.Last()] }})
	d := w.start().ready()
	var who []person
	for name := range answers {
		p := w.person(name)
		p.ask(w, name)
		who = append(who, p)
	}
	w.answered(who)
	for _, l := range w.slack.Transcript() {
		if len(l.Pings) > 0 && l.User == "UBOT" {
			t.Errorf("pings %v: %s", l.Pings, l)
		}
	}
	if n := w.slack.Refused(); n != 0 {
		t.Errorf("Slack refused %d posts: %v", n, w.slack.Refusals())
	}
	for _, c := range w.telegram.Calls("sendMessage") {
		if c.Error != "" {
			t.Errorf("Telegram refused %q: %s", c.Params["text"], c.Error)
		}
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Posts that are cut, late, refused for now or answered with rubbish: once on Slack; on Telegram every copy but one is labelled.
func TestPostsOfUnknownOutcome(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	faults := []fault.Fault{{Cut: true}, {CutDo: 2 * time.Second}, {Reset: true}, {Status: 500}, {Status: 502, Body: "<html>"},
		{Status: 200, Body: "<html>"}, {Status: 200}, {Cut: true}}
	w.slack.Faults.Next("chat.postMessage", append(faults, fault.Fault{Status: 429, Retry: time.Second})...)
	w.slack.Faults.Next("conversations.history", fault.Fault{Status: 500}, fault.Fault{Reset: true})
	w.telegram.Faults.Next("sendMessage", append(faults, telegram.TooMany(time.Second))...)
	who := w.people(12)
	for i, p := range who {
		p.ask(w, fmt.Sprintf("question %02d.", i))
	}
	w.answered(who)
	w.slack.Faults.Wait()
	w.telegram.Faults.Wait()
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i, p := range who {
		if got := said(w.slack.Transcript(), p.dm, ""); len(got) != 1 || got[0] != fmt.Sprintf("re: question %02d.", i) {
			t.Errorf("Slack shows %q, want one answer", got)
		}
		plain := 0
		for _, l := range copies(w.telegram.Transcript(), p.chat) {
			if strings.HasPrefix(l.Text, "re: question") {
				plain++
			}
		}
		if plain > 1 {
			t.Errorf("Telegram shows %d copies without a label: %v", plain, copies(w.telegram.Transcript(), p.chat))
		}
	}
}

// Redeliveries, mention twins in any order, lost connections and lost polls: one turn each.
// Report 43.
func TestWhatComesTwiceIsAnsweredOnce(t *testing.T) {
	retries := []time.Duration{1, 10 * time.Millisecond, 20 * time.Millisecond, time.Second, 2 * time.Second, 2 * time.Second}
	w := newWorld(t, options{slack: slack.Options{Resend: true, Order: slack.AnyOrder, Seed: 3, AckDeadline: 20 * time.Millisecond, Retries: retries}})
	d := w.start().ready()
	w.telegram.Faults.Next("getUpdates", fault.Fault{}, fault.Fault{Cut: true}, fault.Fault{Cut: true}, fault.Fault{Status: 502, Body: "<html>"},
		fault.Fault{Status: 200, Body: `{"ok":true,"result":17}`})
	ana, bob := w.slack.AddUser("ana"), w.telegram.AddUser("Bob", "bob")
	channel, chat := w.slack.AddChannel("general", ana, "UBOT"), w.telegram.PrivateChat(bob)
	var roots []string
	for i := range 40 {
		if i == 20 {
			w.slack.Cut()
		}
		roots = append(roots, w.slack.Say(ana, channel, fmt.Sprintf("<@UBOT> question %02d.", i)))
		w.telegram.Say(bob, chat, fmt.Sprintf("t%02d.", i))
	}
	for _, r := range roots {
		w.slackSees("the answer", posted(channel, r, "re:"))
	}
	w.telegramSees("the last answer", sent(chat, 0, "t39."))
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i, r := range roots {
		if got := said(w.slack.Transcript(), channel, r); len(got) != 1 {
			t.Errorf("question %d has %d answers: %q", i, len(got), got)
		}
	}
	var all strings.Builder
	for _, l := range copies(w.telegram.Transcript(), chat) {
		all.WriteString(l.Text)
	}
	for i := range 40 {
		if n := strings.Count(all.String(), fmt.Sprintf("t%02d.", i)); n != 1 {
			t.Errorf("t%02d is answered %d times", i, n)
		}
	}
}

// Five hundred people write at once.
// Report 62: no prompt holds what another person said in their own DM.
func TestFiveHundredAtOnce(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	who := w.people(250)
	for i, p := range who {
		p.ask(w, fmt.Sprintf("question %03d.", i))
	}
	w.answered(who)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for i, p := range who {
		want := fmt.Sprintf("re: question %03d.", i)
		if got := said(w.slack.Transcript(), p.dm, ""); len(got) != 1 || got[0] != want {
			t.Errorf("Slack: %q, want %q", got, want)
		}
		if got := copies(w.telegram.Transcript(), p.chat); len(got) != 1 || got[0].Text != want {
			t.Errorf("Telegram: %v, want %q", got, want)
		}
	}
	for _, r := range w.ollama.Chats() {
		if n := strings.Count(string(r.Raw), "question "); n != 1 {
			t.Errorf("%d people's questions in one prompt: %s", n, r.Raw)
		}
	}
}

// Frames and updates that make no sense hold up nobody: each is acknowledged, and what follows is answered.
func TestPoisonHoldsUpNobody(t *testing.T) {
	w := newWorld(t, options{slack: slack.Options{AckDeadline: patience}}) // a busy machine acknowledges late
	d := w.start().ready()
	p := w.person("ana")
	for i, f := range []string{
		`null`, `[]`, `"x"`, `17`, `{"type":"events_api"}`, `{"type":"events_api","envelope_id":"e1","payload":null}`, `{"type":"nope","envelope_id":"e3"}`,
		`{"type":"events_api","envelope_id":"e2","payload":{"event":{"type":"message","channel":17}}}`, `{"type":"interactive","envelope_id":"e4","payload":[]}`,
		`{"type":"events_api","envelope_id":"e6","payload":{"type":"event_callback","event":{"type":"message","subtype":"message_changed","channel":"D1"}}}`,
	} {
		if err := w.slack.Push(json.RawMessage(f)); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
	group, other := w.telegram.AddSupergroup("group", false), w.telegram.AddBot("Other", "other_bot")
	for _, o := range []telegram.Option{
		telegram.Field("text", 17), telegram.Field("chat", nil), telegram.Field("from", nil), telegram.Field("date", "yesterday"),
		telegram.Field("message_id", -5), telegram.Field("entities", []any{map[string]any{"type": "mention", "offset": 5000, "length": -7}}),
	} {
		w.telegram.Say(p.bob, p.chat, "odd", o)
	}
	w.telegram.Say(other, group, "@OreBot from a bot")
	w.telegram.Say(p.bob, group, "/help@other_bot")
	p.ask(w, "and now?")
	w.slackSees("the answer", posted(p.dm, "", "and now?"))
	w.telegramSees("the answer", sent(p.chat, 0, "and now?"))
	eventually(t, "every frame is acked", func() bool {
		return !slices.ContainsFunc(w.slack.Deliveries(), func(x slack.Delivery) bool { return !x.Acked })
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := copies(w.telegram.Transcript(), group); len(got) != 0 {
		t.Errorf("the bot spoke in the group: %v", got)
	}
}

func TestPlatformsDownAtStartComeUpLater(t *testing.T) {
	w := newWorld(t, options{})
	chat := &port{h: w.telegram.Handler(), addr: free(t)}
	work := &port{h: w.slack.Handler(), addr: free(t)}
	w.tgURL, w.slackURL = "http://"+chat.addr, "http://"+work.addr+"/api/"
	d := w.start()
	eventually(t, "/readyz names both platforms", func() bool {
		code, body := d.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "slack: Slack") && strings.Contains(body, "telegram: Telegram")
	})
	chat.open(t)
	work.open(t)
	t.Cleanup(chat.close)
	t.Cleanup(work.close)
	p := w.person("ana")
	d.ready()
	p.ask(w, "hello")
	w.answered([]person{p})
}

// A hung terminal is an orderly stop; who is in a hurry signals twice.
func TestSignals(t *testing.T) {
	var asked atomic.Int64
	w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply {
		if asked.Add(1) < 3 {
			return ollama.Reply{Delay: time.Hour}
		}
		return ollama.Say("done")
	}})
	w.grace = "5s"
	d := w.start().ready()
	p := w.person("ana")
	w.slack.Say(p.user, p.dm, "take your time")
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 1 })
	hangUp := syscall.SIGHUP
	if signal.Ignored(hangUp) { // by nohup(1), say: the daemon inherits that, and goes on ignoring it
		hangUp = syscall.SIGTERM
	}
	_ = d.cmd.Process.Signal(hangUp)
	if code := d.wait(patience); code != 0 || !strings.Contains(w.log(), "orebot stops") {
		t.Errorf("SIGHUP ends with %d and the log\n%s", code, w.lastLog())
	}
	w.grace = "10m"
	d = w.start().ready()
	eventually(t, "the model is asked again", func() bool { return len(w.ollama.Chats()) == 2 })
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the second signal ends it", func() bool {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.done:
			return true
		default:
			return false
		}
	})
	if d.cmd.ProcessState.ExitCode() == 0 {
		t.Error("the second signal changed nothing: the daemon ended in its own time")
	}
	w.start()
	w.slackSees("the answer after the restarts", posted(p.dm, "", "done"))
}
