package telegram

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/session"
	sim "orebot/internal/sim/telegram"
)

// A message that was posted is changed and removed, as often as it may be; what can't be done is told apart from what may be tried again.
// Report 13.
func TestAMessageIsChangedAndRemoved(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, a := NewPoster(b.api), place{chat: b.chat}.address()
		it := conduit.Item{Kind: conduit.Attributed, Source: "**one**", Author: "slack:U1", Speaker: "Ann"}
		part := func(source string) conduit.Part {
			it.Source = source
			got, err := Renderer{}.Part(it, 0, conduit.Shape{})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		change := func(message, source string) error { return p.Change(t.Context(), a, message, it, part(source)) }
		post := func() string {
			ids, err := p.Post(t.Context(), a, it, part("**one**"))
			if err != nil {
				t.Fatal(err)
			}
			return ids[0]
		}
		id := post()
		for range 2 {
			if err := change(id, "**two** & more"); err != nil {
				t.Errorf("a change: %v", err)
			}
		}
		if l := b.Transcript(); l[len(l)-1].Action != "edit" || l[len(l)-1].Text != "Ann (Slack):\ntwo & more" || len(l[len(l)-1].Entities) == 0 {
			t.Errorf("the message was changed so: %+v", l[len(l)-1])
		}
		class := func(what string, err error, want conduit.Class, after time.Duration) {
			t.Helper()
			var e *conduit.Error
			if !errors.As(err, &e) || e.Class != want || e.After != after || !strings.Contains(err.Error(), string(a)) {
				t.Errorf("%s: %v after %s, want %s", what, err, e.After, want)
			}
		}
		mine := b.Say(b.ada, b.chat, "a person's")
		class("a person's message", change(decimal(int64(mine)), "x"), conduit.Malformed, 0)
		class("no message", change("x", "x"), conduit.Malformed, 0)
		class("a file", p.Change(t.Context(), a, id, it, conduit.Part{Body: body{text: "x", file: "a.md"}}), conduit.Malformed, 0)
		b.Faults.Next("editMessageText", sim.TooMany(3*time.Second))
		class("a limit", change(id, "three"), conduit.RetryAfter, 3*time.Second)
		b.Faults.Next("deleteMessage", sim.TooMany(3*time.Second))
		class("a limit", p.Remove(t.Context(), a, id), conduit.RetryAfter, 3*time.Second)
		old := post()
		for range 2 {
			if err := p.Remove(t.Context(), a, id); err != nil {
				t.Errorf("a removal: %v", err)
			}
		}
		class("one that is gone", change(id, "x"), conduit.Malformed, 0)
		time.Sleep(49 * time.Hour)
		class("one that is too old", p.Remove(t.Context(), a, old), conduit.Malformed, 0)
		if err := change(old, "(taken back)"); err != nil {
			t.Errorf("an old one is changed: %v", err)
		}
		if err := p.Remove(t.Context(), session.Address("telegram:x"), old); err == nil {
			t.Error("a message of no chat is removed")
		}
	})
}

// What is posted anew says that it was edited.
func TestAnEditedQuestionSaysSo(t *testing.T) {
	it := conduit.Item{Kind: conduit.Attributed, Source: "two", Author: "slack:U1", Speaker: "Ann", Edited: true}
	got, err := Renderer{}.Part(it, 0, conduit.Shape{})
	if err != nil || got.Text != "Ann (Slack), edited:\ntwo" {
		t.Errorf("%q, %v", got.Text, err)
	}
}
