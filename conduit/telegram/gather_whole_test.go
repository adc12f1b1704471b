package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// What the wait for forwards costs: a plain message its 300 ms, and nothing else anything: no reply, no quote, no command, no picture.
func TestOnlyPlainMessagesWaitForForwards(t *testing.T) {
	for name, c := range map[string]struct {
		say  func(b *bench)
		most time.Duration
	}{
		"plain":   {func(b *bench) { b.Say(b.ada, b.chat, "hello") }, commentWait},
		"reply":   {func(b *bench) { b.Say(b.ada, b.chat, "hello", sim.ReplyTo(1)) }, 0},
		"command": {func(b *bench) { b.Say(b.ada, b.chat, "/help") }, 0},
		"word":    {func(b *bench) { b.Say(b.ada, b.chat, "help") }, 0},
		"file": {func(b *bench) {
			b.Say(b.ada, b.chat, "read", sim.Document(sim.File{Name: "a.txt", MIME: "text/plain", Data: []byte("x")}))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				b.commands = true
				l := b.start(func(c *Config) { c.Gather = commentWait })
				b.Say(b.ada, b.chat, "before")
				time.Sleep(10*time.Second + 400*time.Millisecond) // dates are whole seconds
				begin, old := time.Now(), len(b.texts(b.chat))
				c.say(b)
				for len(b.texts(b.chat)) == old && time.Since(begin) < time.Minute {
					time.Sleep(10 * time.Millisecond)
				}
				if took := time.Since(begin); took > c.most+20*time.Millisecond || took < c.most {
					t.Errorf("answered after %s, want %s", took, c.most)
				}
				l.rest(time.Second)
			})
		})
	}
}

// The wait for forwards loses and reorders nothing, though the process is stopped and started again in the middle of it.
func TestWaitingForForwardsKeepsOrder(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start(func(c *Config) { c.Gather = commentWait })
		for i := range 20 {
			b.Say(b.ada, b.chat, fmt.Sprintf("%02d.", i))
			time.Sleep(time.Duration(i*37%400) * time.Millisecond)
			if i%5 == 4 {
				if err := l.stop(); err != nil {
					t.Fatal(err)
				}
				l = b.start(func(c *Config) { c.Gather = commentWait })
			}
		}
		l.rest(time.Minute)
		all := strings.Join(b.model.prompts(), " ")
		at := -1
		for i := range 20 {
			if n := strings.Index(all, fmt.Sprintf("%02d.", i)); n <= at {
				t.Fatalf("%02d is lost or out of order: %s", i, all)
			} else {
				at = n
			}
		}
	})
}

// An album in a group whose caption, which calls the bot, comes in a later batch than its other files is one question all the same. What
// doesn't call the bot is read by nobody.
// Facts A2.13.
func TestAnAlbumsCaptionMayComeLast(t *testing.T) {
	file := func(text string) sim.Option {
		return sim.Document(sim.File{Name: text + ".txt", MIME: "text/plain", Data: []byte("in " + text)})
	}
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start(func(c *Config) { c.Gather = commentWait })
		group := b.AddSupergroup("G", false)
		b.Say(b.ada, group, "", file("other"), sim.Album("nobody's"))
		time.Sleep(5 * time.Second)
		b.Say(b.ada, group, "", file("one"), sim.Album("a"))
		time.Sleep(900 * time.Millisecond)
		b.Say(b.ada, group, "", file("two"), sim.Album("a"))
		time.Sleep(900 * time.Millisecond)
		b.Say(b.ada, group, "@OreBot what is this?", file("three"), sim.Album("a"))
		l.rest(10 * time.Second)
		prompts := b.model.prompts()
		if len(prompts) != 1 || len(b.texts(group)) != 1 {
			t.Fatalf("%d turns: %q", len(prompts), prompts)
		}
		for text, want := range map[string]bool{"in one": true, "in two": true, "in three": true, "what is this?": true, "in other": false} {
			if strings.Contains(prompts[0], text) != want {
				t.Errorf("%q in the prompt: %v: %q", text, !want, prompts[0])
			}
		}
	})
}

// A question that the client cut is one in a forum's topic too, where each message replies to the topic's making, and so is a reply to
// the bot of which only the first message is one. Its quote is told once.
// Facts A2.5, A2.9.
func TestCutQuestionsOfGroups(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start(func(c *Config) { c.Gather = commentWait })
		forum := b.AddSupergroup("F", true)
		topic := b.AddTopic(forum, "Go", b.Bot())
		b.Say(b.ada, forum, "@OreBot "+strings.Repeat("y", maxUnits-8), sim.Topic(topic))
		b.Say(b.ada, forum, "the rest.", sim.Topic(topic))
		time.Sleep(10 * time.Second)
		b.Say(b.ada, forum, "@OreBot hi")
		time.Sleep(10 * time.Second)
		lines := b.Transcript()
		answer := sim.ReplyTo(lines[len(lines)-1].Message)
		b.Say(b.ada, forum, strings.Repeat("z", maxUnits), answer)
		b.Say(b.ada, forum, "more.", answer)
		l.rest(10 * time.Second)
		prompts := b.model.prompts()
		if len(prompts) != 3 || !strings.HasSuffix(prompts[0], "yythe rest.") || !strings.HasSuffix(prompts[2], "zzmore.") {
			t.Fatalf("%d turns: %.9000q", len(prompts), prompts)
		}
	})
}
