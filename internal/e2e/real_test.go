package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"orebot/internal/sim/telegram"
)

// realModel puts the server that OREBOT_TEST_OLLAMA names in the place of the simulated one. Its model tiny gets the name of the tests'.
func (w *world) realModel() {
	w.t.Helper()
	host := os.Getenv("OREBOT_TEST_OLLAMA")
	if host == "" {
		w.t.Skip("OREBOT_TEST_OLLAMA names no Ollama server with the model tiny")
	}
	resp, err := http.Post(host+"/api/copy", "application/json", strings.NewReader(`{"source":"tiny","destination":"test"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		w.t.Fatal(resp.Status)
	}
	w.model.close()
	w.model.addr = strings.TrimPrefix(host, "http://")
}

// answers counts what the bot has sent to a chat that says text.
func answers(lines []telegram.Line, chat int64, text string) (n int) {
	for _, l := range lines {
		if l.Action == "send" && l.Chat == chat && strings.Contains(l.Text, text) {
			n++
		}
	}
	return n
}

// The whole way with a real model server: a question and a follow-up in Telegram are answered, and their tokens are counted as usage.
func TestRealOllamaAnswersInTelegram(t *testing.T) {
	w := newWorld(t, options{})
	w.realModel()
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	for i, question := range []string{"who are you?", "and what can you do?"} {
		w.telegram.Say(bob, chat, question)
		w.telegramSees(fmt.Sprintf("answer %d", i+1), func(lines []telegram.Line) bool {
			return answers(lines, chat, "Hello, I am a tiny scripted model.") == i+1
		})
	}
	eventually(t, "all came to an end", w.idle)
	w.telegram.Say(bob, chat, "/usage")
	w.telegramSees("the usage", sent(chat, 0, "tokens in 2 answers"))
	eventually(t, "100 prompt tokens are counted", func() bool { return d.figure(`orebot_tokens_total{direction="in",model="test"}`) >= 100 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A conversation outgrows the window of a real server, which would refuse a prompt that doesn't fit: each message is answered all the
// same, the older ones are summarised, and the chat is told once.
func TestRealOllamaOutgrowsItsWindow(t *testing.T) {
	w := newWorld(t, options{})
	w.realModel()
	w.numCtx = 1536
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	const questions = 12
	for i := range questions {
		w.telegram.Say(bob, chat, fmt.Sprintf("question %d: %s", i+1, strings.Repeat("more of the same ", 12)))
		w.telegramSees(fmt.Sprintf("answer %d", i+1), func(lines []telegram.Line) bool {
			return answers(lines, chat, "Hello, I am a tiny scripted model.") == i+1
		})
	}
	eventually(t, "the older turns are summarised", func() bool { return strings.Contains(w.allLogs(), "older turns summarised") })
	w.telegram.Say(bob, chat, "and now?")
	w.telegramSees("one more", func(lines []telegram.Line) bool {
		return answers(lines, chat, "Hello, I am a tiny scripted model.") == questions+1
	})
	eventually(t, "all came to an end", w.idle)
	if n := answers(w.telegram.Transcript(), chat, "Older messages no longer fit; I keep a summary."); n != 1 {
		t.Errorf("told %d times of the summary:\n%v", n, w.telegram.Transcript())
	}
	answered := func() float64 { return d.figure(`orebot_messages_total{outcome="answered",platform="telegram"}`) }
	eventually(t, "all messages are counted", func() bool { return answered() >= questions+1 })
	if got := answered(); got != questions+1 {
		t.Errorf("%v messages are answered, want %d", got, questions+1)
	}
}
