package e2e

import (
	"fmt"
	"strings"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// end is one end of a link, on whichever platform.
type end struct {
	id     string // the person's
	say    func(text string) (message any)
	edit   func(message any, text string)
	sees   func(text string)
	counts func(text string) int
}

// slackEnd makes a DM of Slack an end of a link.
func (w *world) slackEnd(user, dm string) end {
	return end{
		id:     "slack:" + user,
		say:    func(text string) any { return w.slack.Say(user, dm, strings.Replace(text, "/", "!", 1)) },
		edit:   func(m any, text string) { w.slack.Edit(dm, m.(string), text) },
		sees:   func(text string) { w.t.Helper(); w.slackSees(text, posted(dm, "", text)) },
		counts: func(text string) int { return w.slackShows(dm, text) + changed(w.slack.Transcript(), dm, text) },
	}
}

// changed counts the changes of the bot's posts at a place that hold a text.
func changed(lines []slack.Line, channel, text string) (n int) {
	for _, l := range lines {
		if l.Kind == slack.Edit && l.User == "UBOT" && l.Channel == channel && strings.Contains(l.Text, text) {
			n++
		}
	}
	return n
}

// telegramEnd makes a private chat of Telegram an end of a link.
func (w *world) telegramEnd(who telegram.User, chat int64) end {
	return end{
		id:   "telegram:" + idOf(chat),
		say:  func(text string) any { return w.telegram.Say(who, chat, text) },
		edit: func(m any, text string) { w.telegram.Edit(chat, m.(int), text) },
		sees: func(text string) { w.t.Helper(); w.telegramSees(text, sent(chat, 0, text)) },
		counts: func(text string) int {
			return seen(w.telegram.Transcript(), "send", chat, text) + seen(w.telegram.Transcript(), "edit", chat, text)
		},
	}
}

// linkedEnds links a DM with a private chat and returns both, that of the given platform first.
func (w *world) linkedEnds(first string, opts ...slack.UserOption) (one, other end) {
	w.t.Helper()
	ana, bea := w.slack.AddUser("ana", opts...), w.telegram.AddUser("Bea", "bea")
	dm, chat := w.slack.OpenDM(ana), w.telegram.PrivateChat(bea)
	w.linkDM(ana, dm, bea, chat)
	w.slackSees("that it is linked", posted(dm, "", "Bea has joined"))
	one, other = w.slackEnd(ana, dm), w.telegramEnd(bea, chat)
	if first == "telegram" {
		return other, one
	}
	return one, other
}

// Whose access is taken back reads no more of what is said in a conversation that theirs is linked with, on either platform and whichever
// of the two made the code: no question, no answer that is being made, no edit, no notice, no history, through a kill as well. They are told why once.
// Let in again, they read what follows, without a word of their own.
func TestWhoIsTurnedAwayReadsNoMore(t *testing.T) {
	for _, platform := range []string{"slack", "telegram"} {
		t.Run(platform, func(t *testing.T) {
			gate := make(chan struct{}, 1)
			w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
				if strings.Contains(r.Last(), "slowly") {
					<-gate
				}
				return echo(0)(r)
			}})
			d := w.start().ready()
			eve, ana := w.linkedEnds(platform)
			old := ana.say("the first wording.")
			eve.sees("re: the first wording.")
			ana.say("think slowly.")
			eve.sees("think slowly.")
			eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 2 })
			w.must([]string{"access", "revoke", eve.id})
			gate <- struct{}{}
			ana.sees("re: think slowly.")
			ana.edit(old, "the second wording.")
			ana.say("between us.")
			ana.sees("re: between us.")
			eve.say("what did she say?")
			eve.sees("not enabled for you any more")
			eve.say("/link history 20")
			ana.say("/new")
			ana.sees("resh conversation")
			eventually(t, "nothing waits", w.idle)
			d.kill()
			d = w.start().ready()
			ana.say("and this.")
			ana.sees("re: and this.")
			eventually(t, "nothing waits", w.idle)
			unseen := []string{"re: think slowly.", "second wording", "between us.", "and this.", "fresh conversation", "she say?"}
			for _, text := range unseen[:5] {
				if n := eve.counts(text); n != 0 {
					t.Errorf("%q is shown %d times", text, n)
				}
			}
			if n := ana.counts("she say?"); n != 0 {
				t.Errorf("what somebody says who is turned away is shown %d times", n)
			}
			w.must([]string{"access", "allow", eve.id})
			ana.say("welcome.")
			eve.sees("welcome.")
			eve.sees("re: welcome.")
			eve.say("thanks.")
			eve.sees("re: thanks.")
			ana.sees("re: thanks.")
			eventually(t, "nothing waits", w.idle)
			if code := d.stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			w.sound()
			for _, text := range unseen[:5] {
				if n := eve.counts(text); n != 0 {
					t.Errorf("let in again, they are shown %q %d times", text, n)
				}
			}
			if n := eve.counts("the first wording."); n != 2 {
				t.Errorf("what was shown before is there %d times, want question and answer", n)
			}
		})
	}
}

// Access that ends by the configuration or on the platform ends reading too: a list without them at the next start, guests and people of
// other workspaces that are no longer let in, a member who becomes a guest.
func TestAccessThatEndsAtARestart(t *testing.T) {
	for name, c := range map[string]struct {
		platform string
		is       []slack.UserOption
		before   string // of the platform's table, before and after the restart
		after    string
		access   string // of Telegram
		becomes  []slack.UserOption
	}{
		"Slack's list":           {platform: "slack", before: "access = \"allowlist\"\nusers = [\"U1\"]", after: "access = \"allowlist\""},
		"Slack's guests":         {platform: "slack", is: []slack.UserOption{slack.Guest()}, before: "allow_guests = true"},
		"Slack's other teams":    {platform: "slack", is: []slack.UserOption{slack.External("T2")}, before: "allow_external = true"},
		"who becomes a guest":    {platform: "slack", becomes: []slack.UserOption{slack.Guest()}},
		"Telegram's list":        {platform: "telegram", before: "users = [%s]", access: "allowlist"},
		"Telegram's known users": {platform: "telegram", before: "users = [%s]", access: "pairing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options{})
			w.access = c.access
			bea := w.telegram.AddUser("Bea", "bea")
			if c.platform == "slack" {
				w.slackTOML = c.before
			} else {
				w.tgTOML = fmt.Sprintf(c.before, idOf(bea.ID))
			}
			d := w.start().ready()
			ana := w.slack.AddUser("ana", c.is...)
			dm, chat := w.slack.OpenDM(ana), w.telegram.PrivateChat(bea)
			w.linkDM(ana, dm, bea, chat)
			eve, other := w.slackEnd(ana, dm), w.telegramEnd(bea, chat)
			if c.platform == "telegram" {
				eve, other = other, eve
			}
			other.say("before.")
			eve.sees("re: before.")
			eventually(t, "nothing waits", w.idle)
			d.stop()
			w.slackTOML, w.tgTOML = "", ""
			if c.platform == "slack" {
				w.slackTOML = c.after
				w.slack.Become(ana, c.becomes...)
			}
			d = w.start().ready()
			other.say("since.")
			other.sees("re: since.")
			eventually(t, "nothing waits", w.idle)
			if n := eve.counts("since."); n != 0 {
				t.Errorf("they read on: %d", n)
			}
			w.must([]string{"access", "allow", eve.id})
			other.say("welcome.")
			eve.sees("re: welcome.")
			d.stop()
		})
	}
}
