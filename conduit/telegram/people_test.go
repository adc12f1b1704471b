package telegram

import (
	"testing"
	"time"

	"orebot/core/session"
	sim "orebot/internal/sim/telegram"
)

// The administrators of a group are looked up, and believed to be the same for a while.
// Facts A3.5.
func TestAdministrators(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group := b.AddSupergroup("G", false)
		bob := b.AddUser("Bob", "bob")
		b.Promote(group, b.ada, "administrator")
		b.Promote(group, bob, "member")
		at := place{chat: group, topic: 3}.address()
		for who, want := range map[sim.User]bool{b.ada: true, bob: false} {
			got, err := b.api.Person(t.Context(), at, session.Author{ID: idOf(who.ID)})
			if err != nil || got.Admin != want || !got.Known {
				t.Errorf("%s: %+v %v", who.FirstName, got, err)
			}
		}
		b.Promote(group, bob, "creator")
		time.Sleep(adminsFor + time.Second)
		if got, err := b.api.Person(t.Context(), at, session.Author{ID: idOf(bob.ID)}); err != nil || !got.Admin {
			t.Errorf("%+v %v", got, err)
		}
		if n := len(b.Calls("getChatAdministrators")); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

// In a private chat nobody is asked; an unreachable Telegram is an error, a group that doesn't tell has no administrators.
func TestWhoIsNoAdministrator(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		ada := session.Author{ID: idOf(b.ada.ID)}
		if got, err := b.api.Person(t.Context(), place{chat: b.chat}.address(), ada); err != nil || got.Admin || !got.Known || len(b.Calls("")) != 0 {
			t.Errorf("%+v %v", got, err)
		}
		group := b.AddSupergroup("G", false)
		at := place{chat: group}.address()
		b.Faults.Next("getChatAdministrators", badGateway, sim.Refusal(403, "Forbidden: bot was kicked from the supergroup chat"))
		if _, err := b.api.Person(t.Context(), at, ada); err == nil {
			t.Error("no error while Telegram is away")
		}
		if got, err := b.api.Person(t.Context(), at, ada); err != nil || got.Admin {
			t.Errorf("%+v %v", got, err)
		}
		anonymous := session.Author{ID: idOf(group), Admin: true}
		if got, err := b.api.Person(t.Context(), at, anonymous); err != nil || !got.Admin {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := b.api.Person(t.Context(), "slack:T1/C1", ada); err == nil {
			t.Error("another platform's address was looked up")
		}
	})
}
