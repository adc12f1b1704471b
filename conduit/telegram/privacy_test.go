package telegram

import (
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// In privacy mode the bot gets, and answers, what is meant for it; the log says at the start which mode it is, since a mention
// that never arrives can't be told of.
// Facts A3.1; report 33.
func TestPrivacyModeIsToldAtTheStart(t *testing.T) {
	for on, state := range map[bool]string{true: "privacy mode on: of groups only what is meant for the bot", false: "privacy mode off: all of groups"} {
		inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
			b.SetPrivacy(on)
			r := &recorder{pass: true}
			l := b.start(r.onto)
			group := b.AddSupergroup("G", false)
			b.Say(b.ada, group, "just talk")
			b.Say(b.ada, group, "@OreBot hello")
			l.rest(time.Minute)
			if b.logged(state) != 1 {
				t.Errorf("privacy %v: %s", on, b.log.String())
			}
			b.want(group, "re: hello")
			if want := map[bool]int{true: 1, false: 2}[on]; len(r.inbounds()) != want {
				t.Errorf("privacy %v: got %q", on, r.texts())
			}
		})
	}
}
