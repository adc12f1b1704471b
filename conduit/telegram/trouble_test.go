package telegram

import (
	"fmt"
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// A chat that is told to wait waits with all its topics, and no other chat does.
// Reports 13, 16.
func TestAChatsTopicsWaitTogether(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		forum := b.AddSupergroup("Forum", true)
		one, two := b.AddTopic(forum, "One", b.ada), b.AddTopic(forum, "Two", b.ada)
		b.Faults.Next("sendMessage", sim.TooMany(26*time.Second))
		b.Say(b.ada, forum, "@OreBot one", sim.Topic(one))
		time.Sleep(time.Second)
		b.Say(b.ada, forum, "@OreBot two", sim.Topic(two))
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(20 * time.Second)
		b.want(b.chat, "re: hello")
		if n := len(b.Calls("sendMessage")); n != 2 {
			t.Errorf("%d posts were tried, two topics of one chat among them", n)
		}
		l.rest(time.Minute)
		if got := fmt.Sprint(len(b.texts(forum)), len(b.Calls("sendMessage"))); got != "2 4" {
			t.Errorf("answers in the forum and posts: %s\n%s", got, b.log.String())
		}
	})
}
