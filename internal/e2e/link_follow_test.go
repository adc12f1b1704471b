package e2e

import (
	"strings"
	"testing"

	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// seen counts the lines of a kind that Telegram has got in a chat with a text; a deletion has none.
func seen(lines []telegram.Line, action string, chat int64, text string) (n int) {
	for _, l := range lines {
		if l.Action == action && l.Chat == chat && strings.Contains(l.Text, text) {
			n++
		}
	}
	return n
}

// What one place was shown of the other's question follows it across platforms: an edit and a deletion, made while the daemon runs or
// just before it is killed.
func TestALinkedPlaceFollowsChanges(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	ana, bea := w.slack.AddUser("ana"), w.telegram.AddUser("Bea", "bea")
	dm, chat := w.slack.OpenDM(ana), w.telegram.PrivateChat(bea)
	w.linkDM(ana, dm, bea, chat)
	w.slackSees("that it is linked", posted(dm, "", "Bea has joined this conversation from Telegram"))

	ts := w.slack.Say(ana, dm, "the first wording")
	w.telegramSees("the question", sent(chat, 0, "(Slack):\nthe first wording"))
	w.telegramSees("its answer", sent(chat, 0, "re: the first wording"))
	w.slack.Edit(dm, ts, "the second wording")
	w.telegramSees("its edit", func(l []telegram.Line) bool { return seen(l, "edit", chat, "(Slack):\nthe second wording") == 1 })
	w.slack.Delete(dm, ts)
	w.telegramSees("its deletion", func(l []telegram.Line) bool { return seen(l, "delete", chat, "") == 1 })

	id := w.telegram.Say(bea, chat, "what Bea wrote")
	w.slackSees("the question", posted(dm, "", "*Bea* wrote on Telegram: what Bea wrote"))
	w.slackSees("its answer", posted(dm, "", "re: what Bea wrote"))
	eventually(t, "nothing waits", w.idle)
	w.telegram.Edit(chat, id, "what Bea meant")
	d.kill()
	d = w.start().ready()
	w.slackSees("its edit", func(lines []slack.Line) bool {
		for _, l := range lines {
			if l.Kind == slack.Edit && l.Channel == dm && strings.Contains(l.Text, "*Bea* wrote on Telegram: what Bea meant") {
				return true
			}
		}
		return false
	})
	eventually(t, "nothing waits", w.idle)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.sound()
	l := w.telegram.Transcript()
	if sends, edits := seen(l, "send", chat, "wording"), seen(l, "edit", chat, "wording"); sends != 2 || edits != 1 {
		t.Errorf("Telegram shows the question and its answer %d times, and changes of it %d times", sends, edits)
	}
	if n := w.slackShows(dm, "what Bea"); n != 2 {
		t.Errorf("Slack shows the other question and its answer %d times", n)
	}
}
