package telegram

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// button returns the message that offers a command by a button, and the button's data.
func (b *bench) button(chat int64, command string) (message int, data string) {
	b.t.Helper()
	for _, l := range slices.Backward(b.Transcript()) {
		var k struct {
			Rows [][]button `json:"inline_keyboard"`
		}
		if l.Chat != chat || l.Keyboard == nil || json.Unmarshal(l.Keyboard, &k) != nil {
			continue
		}
		for _, btn := range slices.Concat(k.Rows...) {
			if btn.Data == buttonPrefix+command {
				return l.Message, btn.Data
			}
		}
	}
	b.t.Fatalf("no button for %s\n%s", command, b.Script())
	return 0, ""
}

// A model that says nothing makes no empty message: the person is told, and may ask again with a touch. What the button asks
// twice is answered twice; it is no question of its own.
// Facts A4.5, D.20; report 25.
func TestAnEmptyAnswerIsToldWithAButton(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.commands = true
		b.model.answers(func(string) string { return " \n" })
		l := b.start()
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(time.Minute)
		if got := b.texts(b.chat); len(got) != 1 || !strings.HasPrefix(got[0], "⚠️ The model stopped without an answer; I tried twice.") {
			t.Errorf("%q", got)
		}
		b.model.answers(nil)
		message, data := b.button(b.chat, "retry")
		b.Callback(b.ada, b.chat, message, data)
		l.rest(10 * time.Second)
		if got := b.texts(b.chat); len(got) != 2 || got[1] != "re: hello" {
			t.Errorf("%q\n%s", got, b.log.String())
		}
		for _, c := range b.Calls("sendMessage") {
			if strings.TrimSpace(c.Params["text"]) == "" {
				t.Error("an empty text was sent")
			}
		}
		if n := len(b.Calls("answerCallbackQuery")); n != 1 {
			t.Errorf("the press was answered %d times", n)
		}
	})
}

// A slow answer is said to be one, with a button that stops it: for who asked, not for others of the group. The line goes with its end.
// Report 66.
func TestASlowAnswerIsStoppedWithAButton(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.commands, b.signs = true, true
		group := b.AddSupergroup("G", false)
		eve := b.AddUser("Eve", "eve")
		b.model.wait = 10 * time.Minute
		l := b.start()
		b.Say(b.ada, group, "@OreBot hello")
		time.Sleep(65 * time.Second)
		message, data := b.button(group, "stop")
		b.Callback(eve, group, message, data)
		time.Sleep(5 * time.Second)
		if got := b.texts(group); len(got) != 2 || !strings.Contains(got[1], "who asked") {
			t.Errorf("somebody else's press: %q", got)
		}
		b.Callback(b.ada, group, message, data)
		time.Sleep(time.Second)
		got := b.texts(group)
		if len(got) != 3 || !strings.Contains(got[2], "Stopped") {
			t.Errorf("%q\n%s", got, b.log.String())
		}
		time.Sleep(4 * time.Second)
		if i := slices.IndexFunc(b.Chat(group), func(m sim.Message) bool { return m.ID == message }); i < 0 || !b.Chat(group)[i].Deleted {
			t.Error("the line that it is slow stands")
		}
		typed := len(b.Calls("sendChatAction"))
		l.rest(11 * time.Minute)
		if n := len(b.Calls("sendChatAction")); n != typed {
			t.Errorf("it types on: %d calls", n-typed)
		}
		if got := b.texts(group); len(got) != 3 {
			t.Errorf("%q", got)
		}
	})
}
