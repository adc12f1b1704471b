package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// repeatLabel opens a part that may be there already.
const repeatLabel = "(this part may be a repeat)"

// crowd is a hundred people who each write one message, half of them on each platform.
type crowd struct {
	w     *world
	slack []place // their DMs and threads
	bobs  []telegram.User
	chats []int64
}

type place struct{ user, channel, thread, text string }

const (
	crowdSize = 50 // on each platform
	kills     = 20
)

// gather makes the people; every second one on Slack writes in a channel.
func gather(w *world) *crowd {
	c := &crowd{w: w}
	var members []string
	for i := range crowdSize {
		u := w.slack.AddUser(fmt.Sprintf("user%d", i))
		members = append(members, u)
		c.slack = append(c.slack, place{user: u, text: fmt.Sprintf("question s%02d.", i)})
		bob := w.telegram.AddUser(fmt.Sprintf("User%d", i), fmt.Sprintf("user%d", i))
		c.bobs = append(c.bobs, bob)
		c.chats = append(c.chats, w.telegram.PrivateChat(bob))
	}
	general := w.slack.AddChannel("general", append(members, "UBOT")...)
	for i := range c.slack {
		c.slack[i].channel = general
		if i%2 == 0 {
			c.slack[i].channel = w.slack.OpenDM(c.slack[i].user)
		}
	}
	return c
}

// speak lets everybody write, over about the given time.
func (c *crowd) speak(over time.Duration) {
	tick := time.NewTicker(over / (2 * crowdSize))
	defer tick.Stop()
	for i := range c.slack {
		p := &c.slack[i]
		if i%2 == 0 {
			c.w.slack.Say(p.user, p.channel, p.text)
		} else {
			p.thread = c.w.slack.Say(p.user, p.channel, "<@UBOT> "+p.text)
		}
		<-tick.C
		c.w.telegram.Say(c.bobs[i], c.chats[i], fmt.Sprintf("question t%02d.", i))
		<-tick.C
	}
}

// shown counts how often a Slack message has come to an end in front of people.
func (p place) shown(lines []slack.Line) (answers, notices int) {
	for _, l := range lines {
		if l.Kind != slack.Post || l.User != "UBOT" || l.Channel != p.channel || l.Thread != p.thread {
			continue
		}
		if strings.Contains(l.Text, "re: "+p.text) {
			answers++
		} else if p.thread != "" || strings.HasPrefix(p.channel, "D") {
			notices++
		}
	}
	return answers, notices
}

// TestKillInTheMiddleOfEverything: promises 1 to 4, with twenty SIGKILLs at random moments of a hundred conversations.
// Report 64: every message comes to an end that its writer sees.
func TestKillInTheMiddleOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	retries := slices.Repeat([]time.Duration{500 * time.Millisecond}, 200)
	begin := time.Now() // of the simulators' clocks, too
	w := newWorld(t, options{answer: echo(150 * time.Millisecond), slack: slack.Options{
		Retries: retries, AckDeadline: time.Second, Order: slack.AnyOrder, Seed: 7}})
	c := gather(w)
	d := w.start()
	if err := w.slack.WaitConnected(within(t, patience)); err != nil {
		t.Fatalf("%v; log:\n%s", err, w.lastLog())
	}
	var talk sync.WaitGroup
	talk.Go(func() { c.speak(15 * time.Second) })
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var at []time.Duration
	for range kills {
		<-time.After(time.Duration(200+rnd.IntN(1000)) * time.Millisecond)
		d.kill()
		at = append(at, time.Since(begin))
		d = w.start()
	}
	talk.Wait()
	w.slackSees("an end for everybody", func(lines []slack.Line) bool {
		return !slices.ContainsFunc(c.slack, func(p place) bool {
			a, n := p.shown(lines)
			return a+n == 0
		})
	})
	w.telegramSees("an end for everybody", func(lines []telegram.Line) bool {
		return !slices.ContainsFunc(c.chats, func(chat int64) bool { return copies(lines, chat) == nil })
	})
	if code := d.ready().stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.judge(t, at)
}

// copies returns the bot's messages in a chat, but for its signs.
func copies(lines []telegram.Line, chat int64) []telegram.Line {
	var out []telegram.Line
	for _, l := range lines {
		if l.Action == "send" && l.Chat == chat && !isSign(l) {
			out = append(out, l)
		}
	}
	return out
}

// isSign reports whether a message only says, for a while, that a question waits: a busy machine makes people wait that long.
func isSign(l telegram.Line) bool {
	return l.Silent && signText(l.Text)
}

func signText(text string) bool {
	return strings.HasSuffix(text, " ahead of you. /stop withdraws.") || text == "You are next. /stop withdraws." ||
		text == "Still working." || strings.HasPrefix(text, "Loading ")
}

// judge checks what everybody saw in the end.
func (c *crowd) judge(t *testing.T, at []time.Duration) {
	lines := c.w.slack.Transcript()
	given := 0
	for _, p := range c.slack {
		a, n := p.shown(lines)
		given += n
		if a+n != 1 {
			t.Errorf("%q at %s/%s has %d answers and %d notices, want one end, shown once", p.text, p.channel, p.thread, a, n)
		}
	}
	repeats := 0
	all := c.w.telegram.Transcript()
	for i, chat := range c.chats {
		got := copies(all, chat)
		for n, l := range got {
			if n > 0 && !strings.HasPrefix(l.Text, repeatLabel) {
				t.Errorf("chat %d: copy %d is %q: every copy after the first is labelled", chat, n+1, l.Text)
			}
			if !strings.Contains(l.Text, fmt.Sprintf("re: question t%02d.", i)) {
				given++
				t.Logf("chat %d was told: %q", chat, l.Text)
			}
		}
		repeats += len(got) - 1
		if hit := between(at, got); len(got) > hit+1 {
			t.Errorf("chat %d: %d copies with %d kills between the first and the last", chat, len(got), hit)
		}
	}
	t.Logf("%d kills; Slack: every end shown once; Telegram: %d ends, %d labelled copies; %d messages ended by a notice", kills, len(c.chats), repeats, given)
}

// between counts the kills from just before the first copy to the last one.
func between(at []time.Duration, got []telegram.Line) int {
	n := 0
	for _, k := range at {
		if k >= got[0].At-5*time.Second && k <= got[len(got)-1].At {
			n++
		}
	}
	return n
}
