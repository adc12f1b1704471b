package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orebot/conduit"
	sim "orebot/internal/sim/telegram"
)

// A poll may wait as long as the server lets it, fifty seconds, and the client waits longer: where nobody writes for ten
// minutes nothing fails, and nothing is polled more often than it has to be.
// Facts A1.5.
func TestAQuietChatIsPolledInPeace(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.start().rest(10 * time.Minute)
		if n := len(b.Polls()); n < 12 || n > 13 {
			t.Errorf("%d polls in ten minutes", n)
		}
		if b.logged("polling fails") != 0 || pollTimeout < pollWait+15*time.Second {
			t.Errorf("the client waits %s:\n%s", pollTimeout, b.log.String())
		}
	})
}

// A document's caption has at most 1024 characters, whatever the file's name, with the label of a repeat too.
// Facts A4.2.
func TestCaptionsFit(t *testing.T) {
	r := NewRenderer(1)
	for _, name := range []string{"", "a.md", strings.Repeat("long name ", 500) + ".md", strings.Repeat("😀", 3000)} {
		it := conduit.Item{Source: strings.Repeat("word ", 3000), File: name}
		p, err := r.Part(it, 0, conduit.Shape{Repeat: true, Posted: 1})
		if err != nil {
			t.Fatal(err)
		}
		b := p.Body.(body)
		if n := utf8.RuneCountInString(b.text); b.file == "" || n == 0 || n > 1024 || units16(b.text) > 1024 {
			t.Errorf("the caption of %.20q has %d characters: %.80q", name, n, b.text)
		}
	}
}

// A button that is touched twice is pressed once; every press is answered. Another button, another person, a later touch,
// and the same press told again are what they are.
// Facts A8.11.
func TestAButtonTouchedTwiceIsPressedOnce(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{}
		l := b.start(r.onto)
		group, eve := b.AddSupergroup("G", false), b.AddUser("Eve", "eve")
		m := b.Say(b.ada, group, "hello")
		for range 3 {
			b.Callback(b.ada, group, m, "c:retry")
		}
		b.Callback(eve, group, m, "c:retry")
		b.Callback(b.ada, group, m, "c:stop")
		time.Sleep(pressGap + time.Second)
		b.Callback(b.ada, group, m, "c:retry")
		l.rest(time.Second)
		var got []string
		for _, in := range r.inbounds() {
			if in.Action != "" {
				got = append(got, fmt.Sprintf("%s %s", in.Author.Name, in.Action))
			}
		}
		if s := strings.Join(got, ", "); s != "Ada retry, Eve retry, Ada stop, Ada retry" {
			t.Error(s)
		}
		if n := len(b.Calls("answerCallbackQuery")); n != 6 || b.Pending() != 0 {
			t.Errorf("%d answers, %d wait", n, b.Pending())
		}
	})
}

// Facts A8.11: presses that couldn't be stored come again, and the touch that counts is the same.
func TestPressesThatComeAgain(t *testing.T) {
	p, now := presses{}, time.Now()
	press := func(id string) event {
		ev, err := translate(fmt.Appendf(nil, `{"callback_query":{"id":%q,"from":{"id":7,"first_name":"A"},"data":"c:retry","message":{"message_id":9,"chat":{"id":7},"date":1}}}`, id), ore)
		if err != nil {
			t.Fatal(err)
		}
		return p.once(ev, now)
	}
	for i, want := range []bool{true, false, true, false} {
		id := []string{"one", "two"}[i%2]
		if ev := press(id); (ev.ignored == "") != want || ev.callback != id {
			t.Errorf("press %d: %+v", i, ev)
		}
	}
	now = now.Add(pressGap)
	if ev := press("three"); ev.ignored != "" {
		t.Errorf("%+v", ev)
	}
}
