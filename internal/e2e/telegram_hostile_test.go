package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/telegram"
)

// unkind are answers that Telegram's parser, its limits or its clients have trouble with, and what must be seen of each.
func unkind() map[string]struct{ md, see string } {
	var rows, deep, faces, marks, parts strings.Builder
	for i := range 10_000 {
		faces.WriteRune(rune(0x1f300 + i*7919%0x2ff)) // none of them in a row: what only repeats itself is stopped
	}
	for i := range 200 {
		fmt.Fprintf(&marks, "**b%d** `c%d` ", i, i)
	}
	for i := range 7000 {
		fmt.Fprintf(&parts, "line %d of an answer that has no end.\n\n", i)
	}
	for i := range 300 {
		fmt.Fprintf(&rows, "| row %d | `x%d` | **long text that doesn't fit a phone's width** | <i>y</i> |\n", i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&deep, "%s- level %d\n", strings.Repeat("  ", i), i)
	}
	return map[string]struct{ md, see string }{
		"unbalanced":  {"</b> <b> <i>a</b></i> <code> </pre> <a href=\"x\" <blockquote>", "</b> <b> <i>a</b></i> <code> </pre>"},
		"emoji":       {faces.String(), string(rune(0x1f300 + 4000*7919%0x2ff))},
		"entities":    {marks.String(), "The rest of the answer is in this file"},
		"table":       {"| a | b | c | d |\n|-|-|-|-|\n" + rows.String(), "The rest of the answer is in this file"},
		"narrow":      {"| a | b |\n|-|-|\n| 1 | 2 |", "a | b\n--+--\n1 | 2"},
		"nested":      {deep.String(), "level 39"},
		"script":      {"<script>alert(1)</script> and <!-- c --> and <img src=x onerror=y>", "<script>alert(1)</script>"},
		"math":        {"so $a_b * c_d$ and\n\n$$\n\\int_0^1 *x* \\, dx < \\infty\n$$", "\\int_0^1 *x* \\, dx < \\infty"},
		"sixty parts": {parts.String(), "The rest of the answer is in this file"},
	}
}

// Whatever the model says, Telegram takes each part at the first try, with every mark in it, and people
// see it.
// Facts A4.4, A4.8, D.7, D.8; reports 18, 19, 20.
func TestUnkindAnswersAreShown(t *testing.T) {
	answers := unkind()
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply { return ollama.Say(answers[r.Last()].md) }})
	d := w.start().ready()
	chats := map[string]int64{}
	for name := range answers {
		u := w.telegram.AddUser(name, "")
		chats[name] = w.telegram.PrivateChat(u)
		w.telegram.Say(u, chats[name], name)
	}
	for name, a := range answers {
		w.telegramSees(name, func(lines []telegram.Line) bool {
			return slices.ContainsFunc(lines, func(l telegram.Line) bool { return l.Chat == chats[name] && strings.Contains(l.Text, a.see) })
		})
	}
	eventually(t, "nothing waits", w.idle)
	d.stop()
	for _, method := range []string{"sendMessage", "sendDocument"} {
		for _, c := range w.telegram.Calls(method) {
			if c.Error != "" {
				t.Errorf("Telegram refused %.200q: %s", c.Params["text"], c.Error)
			}
		}
	}
	parts := map[int64]int{}
	for _, l := range w.telegram.Transcript() {
		if l.Dropped > 0 || l.Preview {
			t.Errorf("%d marks dropped, preview %v: %.80s", l.Dropped, l.Preview, l)
		}
		if l.Action == "send" || l.Action == "document" {
			parts[l.Chat]++
		}
	}
	for name, chat := range chats {
		if n := parts[chat]; n == 0 || n > 4 {
			t.Errorf("%s takes %d messages, want three and a file at most", name, n)
		}
	}
}

// A button that is touched twice asks once; one that a stranger touches costs no call, and tells them
// how to be let in, once.
// Facts A8.10, A8.11.
func TestAButtonPressedTwiceAndByAStranger(t *testing.T) {
	w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply { return ollama.Say("") }})
	w.access = "pairing"
	d := w.start().ready()
	bob, eve := w.telegram.AddUser("Bob", "bob"), w.telegram.AddUser("Eve", "eve")
	group := w.telegram.AddSupergroup("G", false)
	for _, id := range []string{idOf(bob.ID), idOf(group)} {
		w.must([]string{"access", "allow", "telegram:" + id})
	}
	w.telegram.Say(bob, group, "@OreBot say nothing")
	all := w.telegramSees("the notice", sent(group, 0, "without an answer"))
	notice := all[slices.IndexFunc(all, func(l telegram.Line) bool { return l.Action == "send" && l.Chat == group })]
	eventually(t, "nothing waits", w.idle)
	asked := len(w.ollama.Chats())
	w.telegram.Callback(eve, group, notice.Message, "c:retry")
	w.telegram.Callback(eve, group, notice.Message, "c:forget")
	w.telegram.Callback(eve, w.telegram.PrivateChat(eve), 1, "c:retry")
	w.pressed(3)
	if n := len(w.ollama.Chats()); n != asked {
		t.Errorf("a stranger cost %d calls", n-asked)
	}
	if n := lines(w.telegram.Transcript(), group, "I don't know you yet") + lines(w.telegram.Transcript(), eve.ID, "I don't know you yet"); n != 1 {
		t.Errorf("a stranger is told %d times:\n%s", n, w.telegram.Script("action"))
	}
	w.telegram.Callback(bob, group, notice.Message, "c:retry")
	w.telegram.Callback(bob, group, notice.Message, "c:retry")
	w.pressed(5)
	if n := len(w.ollama.Chats()) - asked; n != 2 { // an empty answer is asked for twice
		t.Errorf("two presses cost %d calls", n)
	}
	d.stop()
	if n := lines(w.telegram.Transcript(), group, "without an answer"); n != 2 {
		t.Errorf("%s", w.telegram.Script("action"))
	}
}

// pressed waits until so many presses are answered, have been taken in, which comes behind that, and have done what they do.
func (w *world) pressed(n int) {
	w.t.Helper()
	eventually(w.t, "the presses are answered", func() bool { return len(w.telegram.Calls("answerCallbackQuery")) == n })
	eventually(w.t, "they are taken in", func() bool { return w.telegram.Pending() == 0 })
	eventually(w.t, "nothing waits", w.idle)
}

// Strangers who flood the bot cost no call of the model, each hears a code once, and a hundred of them at most.
// Reports 79, 81.
func TestAFloodOfStrangers(t *testing.T) {
	w := newWorld(t, options{})
	w.access, w.level = "pairing", "info"
	d := w.start().ready()
	var chats []int64
	for i := range 130 {
		u := w.telegram.AddUser(fmt.Sprintf("Stranger %d", i), "")
		chats = append(chats, w.telegram.PrivateChat(u))
		for k := range 3 {
			w.telegram.Say(u, chats[i], fmt.Sprintf("let me in %d", k))
		}
	}
	bob := w.telegram.AddUser("Bob", "bob")
	w.must([]string{"access", "allow", "telegram:" + idOf(bob.ID)})
	begin := time.Now()
	w.telegram.Say(bob, w.telegram.PrivateChat(bob), "am I held up?")
	w.telegramSees("the answer", sent(bob.ID, 0, "re: am I held up?"))
	t.Logf("answered after %s", time.Since(begin))
	eventually(t, "every update is read", func() bool { return w.telegram.Pending() == 0 })
	eventually(t, "nothing waits", w.idle)
	told := 0
	for _, chat := range chats {
		n := len(copies(w.telegram.Transcript(), chat))
		if told += n; n > 1 {
			t.Errorf("a stranger is told %d times: %q", n, w.shown(chat))
		}
	}
	if told != 100 || len(w.ollama.Chats()) != 1 {
		t.Errorf("%d were told, %d calls", told, len(w.ollama.Chats()))
	}
	d.stop()
	if n := strings.Count(w.allLogs(), "\n"); n > 300 {
		t.Errorf("%d lines in the log:\n%.3000s", n, w.allLogs())
	}
}

// Kill -9 right behind the moment in which Telegram gave a message away. It is answered all the same, and a
// second copy is labelled.
// Facts A1.2, E.10; reports 2, 3.
func TestKillBetweenPollAndCommit(t *testing.T) {
	w := newWorld(t, options{})
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	d := w.start().ready()
	for i := range 12 {
		eventually(t, "a poll waits", func() bool { return w.telegram.Pending() == 0 && len(w.telegram.Calls("getUpdates")) > 0 })
		w.telegram.Say(bob, chat, fmt.Sprintf("m%02d.", i))
		<-time.After(time.Duration(i) * 500 * time.Microsecond) // some before the commit, some behind it, some in the middle of the answer
		d.kill()
		d = w.start().ready()
		w.telegramSees("the answer", sent(chat, 0, fmt.Sprintf("m%02d.", i)))
	}
	eventually(t, "nothing waits", w.idle)
	d.stop()
	plain := map[string]int{}
	for _, l := range copies(w.telegram.Transcript(), chat) {
		if !strings.HasPrefix(l.Text, repeatLabel) {
			plain[l.Text]++
		}
	}
	for text, n := range plain {
		if n > 1 {
			t.Errorf("%q is shown %d times without a label", text, n)
		}
	}
}
