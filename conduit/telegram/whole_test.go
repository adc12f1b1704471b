package telegram

import (
	"strings"
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// An album, a comment with its forwards and a text that the client cut are one turn each, with one answer.
// Facts E.6; report 39.
func TestWhatBelongsTogetherIsOneTurn(t *testing.T) {
	full := strings.Repeat("x", maxUnits)
	for name, c := range map[string]struct {
		say  func(b *bench)
		want []string // in this order, in the one prompt
	}{
		"comment, forwards": {func(b *bench) {
			b.Say(b.ada, b.chat, "what do they want?")
			time.Sleep(100 * time.Millisecond)
			b.Say(b.ada, b.chat, "one cup", sim.Forwarded(b.Bot(), time.Unix(1, 0)))
			b.Say(b.ada, b.chat, "two cups", sim.ForwardedHidden("Eve", time.Unix(1, 0)))
		}, []string{"one cup", "Eve", "two cups", "what do they want?"}},
		"forwards, comment": {func(b *bench) {
			b.Say(b.ada, b.chat, "one cup", sim.ForwardedChannel("News", 3, time.Unix(1, 0)))
			b.Say(b.ada, b.chat, "two cups", sim.ForwardedChat("Office", "boss", time.Unix(1, 0)))
			time.Sleep(500 * time.Millisecond)
			b.Say(b.ada, b.chat, "what do they want?")
		}, []string{"News", "one cup", "boss (Office)", "two cups", "what do they want?"}},
		"cut paste": {func(b *bench) {
			b.Say(b.ada, b.chat, full)
			time.Sleep(300 * time.Millisecond)
			b.Say(b.ada, b.chat, "y and the rest")
		}, []string{full + "y and the rest"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				l := b.start(func(c *Config) { c.Gather = commentWait })
				time.Sleep(time.Second)
				c.say(b)
				l.rest(10 * time.Second)
				prompts := b.model.prompts()
				if len(prompts) != 1 {
					t.Fatalf("%d turns: %.300q", len(prompts), prompts)
				}
				rest := prompts[0]
				for _, w := range c.want {
					_, after, ok := strings.Cut(rest, w)
					if !ok {
						t.Fatalf("%.40q isn't where it belongs in %.300q", w, prompts[0])
					}
					rest = after
				}
			})
		})
	}
}
