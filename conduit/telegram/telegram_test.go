package telegram

import (
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

func TestAPrivateMessageIsAnswered(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(time.Second)
		b.want(b.chat, "re: hello")
		if ready, reason := b.health.state(); !ready {
			t.Errorf("not ready: %s", reason)
		}
		before := time.Now()
		if err := l.stop(); err != nil || time.Since(before) > time.Second {
			t.Errorf("stopped after %v with %v", time.Since(before), err)
		}
	})
}
