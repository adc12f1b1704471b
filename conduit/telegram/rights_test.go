package telegram

import (
	"strings"
	"testing"
	"time"

	sim "orebot/internal/sim/telegram"
)

// Who administers a group may do there what else only who began the conversation may. Telegram is asked only where that matters, and
// where it can't tell, nobody gets a right by it.
// Facts A3.5.
func TestGroupAdministratorsHaveTheirRights(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.commands = true
		l := b.start()
		group := b.AddSupergroup("G", false)
		bob, eve := b.AddUser("Bob", "bob"), b.AddUser("Eve", "eve")
		b.Promote(group, bob, "administrator")
		say := func(who sim.User, text string) string {
			b.Say(who, group, text)
			time.Sleep(5 * time.Second)
			got := b.texts(group)
			return got[len(got)-1]
		}
		say(b.ada, "@OreBot hello")
		say(b.ada, "/status@OreBot")
		say(eve, "/model@OreBot")
		if n := len(b.Calls("getChatAdministrators")); n != 0 {
			t.Errorf("asked %d times for nothing", n)
		}
		b.Faults.Next("getChatAdministrators", badGateway)
		for _, c := range []struct {
			who        sim.User
			text, want string
		}{
			{bob, "/new", "or an admin, can do that"}, // Telegram doesn't tell
			{eve, "/new", "or an admin, can do that"},
			{eve, "/system@OreBot be rude", "or an admin, can do that"},
			{eve, "/help", "show the model here"},
			{bob, "/help", "delete this conversation for good"},
			{bob, "/whoami@OreBot", "You are an admin here."},
			{bob, "/new", "a fresh conversation"},
		} {
			if got := say(c.who, c.text); !strings.Contains(strings.ToLower(got), strings.ToLower(c.want)) {
				t.Errorf("%s: %s → %q, want %q", c.who.FirstName, c.text, got, c.want)
			}
		}
		if n := len(b.Calls("getChatAdministrators")); n != 2 {
			t.Errorf("asked %d times", n)
		}
		l.rest(time.Second)
	})
}
