package slack

import (
	"errors"
	"testing"

	"orebot/conduit"
	"orebot/internal/sim/fault"
)

// A message that was posted is changed and removed, as often as it may be; what can't be done is told apart from what may be tried again.
// Facts A5.3, A7.15.
func TestAMessageIsChangedAndRemoved(t *testing.T) {
	atDesk(t, func(t *testing.T, d *desk) {
		it := conduit.Item{Kind: conduit.Attributed, Source: "one", Author: "telegram:8", Speaker: "Bea"}
		change := func(message, text string, plain bool) error {
			return d.p.Change(t.Context(), d.thread(), message, it, conduit.Part{Body: body{text: text, plain: plain}})
		}
		ts := d.post(d.thread(), it, 0)
		for range 2 {
			if err := change(ts, "*two* <https://x.org>", false); err != nil {
				t.Errorf("a change: %v", err)
			}
		}
		if _, found, err := d.p.Find(t.Context(), d.thread(), it, 0); !found || err != nil {
			t.Errorf("what was changed isn't found any more: %v", err)
		}
		class := func(what string, err error, want conduit.Class) {
			t.Helper()
			var e *conduit.Error
			if !errors.As(err, &e) || e.Class != want {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
		class("a person's message", change(d.root, "x", false), conduit.Malformed)
		class("no message", change("x", "x", false), conduit.Malformed)
		class("too long", change(ts, string(make([]byte, 5000))+"x", true), conduit.TooBig)
		class("a file", d.p.Change(t.Context(), d.thread(), ts, it, conduit.Part{Body: body{text: "x", file: file{name: "a.md"}}}), conduit.Malformed)
		d.Faults.Next("chat.update", fault.Fault{Status: 429}, fault.Fault{Cut: true}, refusal("edit_window_closed"), refusal("missing_scope"))
		class("a limit", change(ts, "x", false), conduit.RetryAfter)
		class("a cut", change(ts, "x", false), conduit.Unknown)
		class("an old one", change(ts, "x", false), conduit.Malformed)
		class("a lost scope", change(ts, "x", false), conduit.RetryAfter)
		d.Faults.Next("chat.delete", refusal("cant_delete_message"), fault.Fault{Status: 502})
		class("one that stays", d.p.Remove(t.Context(), d.thread(), ts), conduit.Malformed)
		class("a gateway", d.p.Remove(t.Context(), d.thread(), ts), conduit.Unknown)
		for range 2 {
			if err := d.p.Remove(t.Context(), d.thread(), ts); err != nil {
				t.Errorf("a removal: %v", err)
			}
		}
		class("one that is gone", change(ts, "x", false), conduit.Malformed)
		class("no message", d.p.Remove(t.Context(), d.thread(), "x"), conduit.Malformed)
	})
}

// What is posted anew says that it was edited.
func TestAnEditedQuestionSaysSo(t *testing.T) {
	it := conduit.Item{Kind: conduit.Attributed, Source: "two", Author: "telegram:8", Speaker: "Bea", Edited: true}
	got, err := Renderer{}.Part(it, 0, conduit.Shape{})
	if err != nil || got.Text != "*Bea* wrote on Telegram (edited): two" {
		t.Errorf("%q, %v", got.Text, err)
	}
}
