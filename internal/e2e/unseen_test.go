package e2e

import (
	"testing"
)

// What nobody can see gets help on both platforms, and costs no call of the model.
func TestWhatNobodySeesGetsHelp(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	ana, bob := w.slack.AddUser("ana"), w.telegram.AddUser("Bob", "bob")
	dm, chat, group := w.slack.OpenDM(ana), w.telegram.PrivateChat(bob), w.telegram.AddSupergroup("G", false)
	const alone, among = "Hello! Write your question, and I answer.", "Hello! Write your question together with my name, or as a reply to me."
	for _, text := range []string{"\u200b", "\u2060\u200d \ufeff", "\u3164", "\u2800"} {
		w.slack.Say(ana, dm, text)
		w.telegram.Say(bob, chat, text)
		w.telegram.Say(bob, group, "@OreBot "+text)
		eventually(t, "nothing waits", w.idle)
	}
	w.slackSees("help", posted(dm, "", alone))
	w.telegramSees("help", sent(chat, 0, alone))
	w.telegramSees("help in the group", sent(group, 0, among))
	if n := len(w.ollama.Chats()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	eventually(t, "each of them gets it", func() bool { return len(w.shown(chat)) == 4 && len(w.shown(group)) == 4 })
	d.stop()
}
