package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/store/bolt"
)

// stored counts the live records of a stopped daemon's file that hold a word.
func (w *world) stored(word string) (n int) {
	w.t.Helper()
	s, err := bolt.Open(filepath.Join(w.state(), "orebot.db"), bolt.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	if err := s.Mentions(context.Background(), word, len(word), func(string) { n++ }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// deleted waits until so many conversations have been deleted.
func (w *world) deleted(n int) {
	w.t.Helper()
	eventually(w.t, "the conversations are deleted", func() bool {
		return strings.Count(w.allLogs(), `"msg":"conversation deleted"`) >= n
	})
}

// What was said in a conversation that is forgotten, what the model answered and what it thought, is in no record any more; other
// conversations are untouched.
func TestForgetLeavesNothingOnDisk(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"thinking"}, answer: func(r ollama.Request) ollama.Reply {
		return ollama.Reply{Thinking: []string{"they say ", r.Last()}, Chunks: []string{"re: ", r.Last()}}
	}})
	d := w.start().ready()
	ana, bea := w.slack.AddUser("ana"), w.telegram.AddUser("Bea", "bea")
	dm, chat := w.slack.OpenDM(ana), w.telegram.PrivateChat(bea)
	cem := w.slack.AddUser("cem")
	other := w.slack.OpenDM(cem)
	for _, text := range []string{"ZEBRA one", "!new", "ZEBRA two", "!system ZEBRA rules"} {
		w.slack.Say(ana, dm, text)
		w.telegram.Say(bea, chat, strings.Replace(text, "!", "/", 1))
	}
	w.slackSees("the last reply", posted(dm, "", "I follow that"))
	w.telegramSees("the last reply", sent(chat, 0, "I follow that"))
	w.slack.Say(cem, other, "GNU one")
	w.slackSees("the other answer", posted(other, "", "re: GNU one"))
	if code := d.stop(); code != 0 || w.stored("ZEBRA") < 8 || w.stored("GNU") == 0 {
		t.Fatalf("exit code %d; %d records hold what was said", code, w.stored("ZEBRA"))
	}
	d = w.start().ready()
	for _, text := range []string{"!forget", "!forget yes"} {
		w.slack.Say(ana, dm, text)
		w.telegram.Say(bea, chat, strings.Replace(text, "!", "/", 1))
	}
	w.slackSees("that it is done", posted(dm, "", "Forgotten."))
	w.telegramSees("that it is done", sent(chat, 0, "Forgotten."))
	w.deleted(2)
	w.slack.Say(ana, dm, "hello again")
	w.slackSees("an answer in a fresh conversation", posted(dm, "", "re: hello again"))
	if code := d.stop(); code != 0 || w.stored("ZEBRA") != 0 || w.stored("GNU") == 0 {
		t.Errorf("exit code %d; %d records hold what was forgotten, %d what wasn't", code, w.stored("ZEBRA"), w.stored("GNU"))
	}
}

// What still had to be delivered of a conversation that is forgotten isn't sent, not after a kill either.
func TestForgetDropsWhatIsDue(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	bea := w.telegram.AddUser("Bea", "bea")
	chat := w.telegram.PrivateChat(bea)
	w.telegram.Say(bea, chat, "hello")
	w.telegramSees("an answer", sent(chat, 0, "re: hello"))
	w.telegram.Faults.Next("sendMessage", slices.Repeat([]fault.Fault{{Status: 500}}, 1000)...)
	for _, text := range []string{"ZEBRA", "/forget", "/forget yes"} {
		w.telegram.Say(bea, chat, text)
	}
	w.deleted(1)
	d.kill()
	w.telegram.Faults.Clear()
	w.start().ready()
	lines := w.telegramSees("that it is done", sent(chat, 0, "Forgotten."))
	for _, l := range lines {
		if l.Action == "send" && strings.Contains(l.Text, "ZEBRA") {
			t.Errorf("sent after all: %v", l)
		}
	}
}
