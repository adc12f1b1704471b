package e2e

import (
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/telegram"
)

// sendsOf returns how often the bot has sent a text to a chat, word for word, and how many of these messages stand there still.
func sendsOf(lines []telegram.Line, chat int64, text string) (n, left int) {
	ids := map[int]bool{}
	for _, l := range lines {
		switch {
		case l.Chat != chat:
		case l.Action == "send" && l.Text == text:
			n++
			ids[l.Message] = true
		case l.Action == "delete":
			delete(ids, l.Message)
		}
	}
	return n, len(ids)
}

// What takes long is said once, in silence: that the model loads, that the answer is being worked on. It is taken back with the answer.
// A server from which no first token comes, or which goes silent in mid-answer, is given up in its time: the chat is told, and shown
// nothing half. Report 71.
func TestWhatIsToldWhileOneWaits(t *testing.T) {
	replies := map[string]ollama.Reply{
		"cold":  {Load: 10 * time.Second, Chunks: []string{"warm now"}},
		"slow":  {Delay: 20 * time.Second, Chunks: []string{"done ", "at last"}},
		"never": {Delay: time.Hour},
		"hush":  {Chunks: []string{"half ", "of ", "it"}, Between: time.Hour},
		"quick": ollama.Say("at once"),
	}
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply { return replies[r.Last()] }})
	w.ollamaTOML = "first_token_timeout = \"30s\"\nidle_timeout = \"2s\"\nretry_for = \"1s\""
	w.moreTOML = "[chat]\nslow_notice = \"12s\"\n"
	d := w.start().ready()
	who := map[string]person{}
	say := func(name string) {
		who[name] = w.person(name)
		w.telegram.Say(who[name].bob, who[name].chat, name)
	}
	say("cold") // alone: the others would wait for its load
	w.telegramSees("the cold answer", sent(who["cold"].chat, 0, "warm now"))
	for _, name := range []string{"slow", "never", "hush", "quick"} {
		say(name)
	}
	for name, text := range map[string]string{"slow": "done at last", "never": "The model went silent for 30 s. Please ask again", "hush": "The model went silent for 2 s.", "quick": "at once"} {
		w.telegramSees(name, sent(who[name].chat, 0, text))
	}
	eventually(t, "all signs are taken back", func() bool {
		for _, p := range who {
			for _, text := range []string{"Still working.", "Loading test, can take minutes."} {
				if _, left := sendsOf(w.telegram.Transcript(), p.chat, text); left > 0 {
					return false
				}
			}
		}
		return true
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := w.telegram.Transcript()
	for name, want := range map[string][2]int{"cold": {1, 0}, "slow": {0, 1}, "never": {0, 1}, "hush": {0, 0}, "quick": {0, 0}} {
		loading, _ := sendsOf(lines, who[name].chat, "Loading test, can take minutes.")
		slow, _ := sendsOf(lines, who[name].chat, "Still working.")
		if got := [2]int{loading, slow}; got != want {
			t.Errorf("%s: told %d times that it loads and %d times that it works, want %v", name, loading, slow, want)
		}
	}
	for _, l := range lines {
		if strings.Contains(l.Text, "half") {
			t.Errorf("the chat shows half an answer: %+v", l)
		}
		if (l.Text == "Still working." || strings.HasPrefix(l.Text, "Loading")) && l.Action == "send" && !l.Silent {
			t.Errorf("a phone rings: %+v", l)
		}
	}
}
