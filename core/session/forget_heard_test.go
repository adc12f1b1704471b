package session_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// lazyEraser finds the entries of what is deleted only after a while.
type lazyEraser struct{ *storetest.Memory }

func (l lazyEraser) Entries(ctx context.Context, a session.Address, after string, limit int) ([]session.StoredEntry, error) {
	time.Sleep(10 * time.Second)
	return l.Memory.Entries(ctx, a, after, limit)
}

// What was heard before a conversation was deleted is deleted with it: a question that waits behind the command isn't shown it, however
// late the eraser is, and neither is one of the same group.
func TestWhatWasHeardIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		var log bytes.Buffer
		b := start(t, lazyEraser{mem}, p, commanded(mem), func(c *session.Config) {
			c.Admins, c.Logger = []string{"slack:U9"}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
		say := func(who, what string, how session.Call, change ...func(*session.Inbound)) session.Inbound {
			in := msg(room, who, what, append([]func(*session.Inbound){inRoom(how, "Ann")}, change...)...)
			b.accept(in)
			return in
		}
		grouped := func(in *session.Inbound) { in.Group = "g" }
		say("slack:U1", "one", session.CallMention)
		say("slack:U2", "secret, said beside", session.CallAmbient)
		say("slack:U1", "secret, in a group", session.CallAmbient, grouped)
		synctest.Wait()
		say("slack:U9", "!forget", session.CallMention)
		say("slack:U9", "!forget yes", session.CallMention)
		two := say("slack:U1", "two", session.CallMention, grouped)
		say("slack:U2", "said afterwards", session.CallAmbient)
		three := say("slack:U1", "three", session.CallMention)
		time.Sleep(time.Minute)
		b.ended(two, session.EndAnswered)
		b.ended(three, session.EndAnswered)
		if got := strings.Join(b.log(room), "\n"); strings.Contains(got, "secret") || !strings.Contains(got, "said afterwards") {
			t.Errorf("log:\n%s", got)
		}
		erased(t, mem, room, "secret")
		for i := range p.prompts()[1:] {
			if i++; slices.ContainsFunc(p.shown(i), func(s string) bool { return strings.Contains(s, "secret") }) {
				t.Errorf("prompt %d: %q", i, p.shown(i))
			}
		}
		if log.Len() > 0 {
			t.Errorf("logged: %s", &log)
		}
		b.stopLife()
	})
}

// A conversation that follows another at its place isn't told by the platform what was said there before: that belongs to the other one,
// which may be deleted, or be another place's.
func TestAConversationThatFollowsAnotherAsksForNoHistory(t *testing.T) {
	said := []session.Said{{Own: true, Text: "what I have answered", Message: "m1"}, {Author: session.Author{ID: "slack:U2"}, Text: "old", Message: "m2"}}
	for _, c := range []struct {
		name     string
		commands []string
	}{
		{"new", []string{"!new"}},
		{"forget", []string{"!forget", "!forget yes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				h, p := past{said: said}, says("ok")
				b := start(t, mem, p, commanded(mem), recalling(&h), func(c *session.Config) { c.Admins = []string{"slack:U1"} })
				for _, text := range slices.Concat([]string{"one"}, c.commands, []string{"two"}) {
					b.accept(msg(room, "slack:U1", text, inRoom(session.CallMention, "Ann")))
					time.Sleep(time.Second)
				}
				equal(t, "the first prompt", p.shown(0), []string{"user what I have answered", "user old", "user one"})
				equal(t, "the second prompt", p.shown(1), []string{"user two"})
				if h.calls != 1 {
					t.Errorf("the platform was asked %d times", h.calls)
				}
				b.stopLife()
			})
		})
	}
}

// What was heard before a conversation ended is no context of the one that follows, nor of the one that goes on again: however much it is, and
// though nobody has asked anything since.
func TestWhatWasHeardStaysWithItsConversation(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  []string
		command string
		asked   []string
	}{
		{"new", []string{"one"}, "!new", nil},
		{"new, with a question", []string{"one"}, "!new at once", []string{"user at once", "assistant ok"}},
		{"undo", []string{"one", "!new"}, "!undo", []string{"user one", "assistant ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := says("ok")
				b := start(t, mem, p, commanded(mem))
				say := func(who, what string, how session.Call) {
					b.accept(msg(room, who, what, inRoom(how, "Ann")))
					synctest.Wait()
				}
				for _, text := range c.before {
					say("slack:U1", text, session.CallMention)
				}
				for range 250 {
					say("slack:U2", "said beside", session.CallAmbient)
				}
				say("slack:U1", c.command, session.CallMention)
				say("slack:U2", "said afterwards", session.CallAmbient)
				say("slack:U1", "two", session.CallMention)
				got := p.prompts()
				equal(t, "the last prompt", p.shown(len(got)-1), append(c.asked, "user said afterwards", "user two"))
				b.stopLife()
			})
		})
	}
}

// What was said in a group while it shared another place's conversation is no context of its own conversation, once the link has ended.
func TestWhatWasHeardStaysBehindWithALink(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const group = session.Address("telegram:-100")
		within := func(who string, how session.Call) func(*session.Inbound) {
			return func(in *session.Inbound) { in.Place, in.Author.ID, in.Call = string(group), who, how }
		}
		b := start(t, mem, echo(0), linking(mem, "threads"), func(c *session.Config) { c.Admins = []string{"telegram:8"} })
		b.speak(dm, "hi")
		b.ended(b.speak(group, "/link "+b.code(dm), within("telegram:8", session.CallCommand)), session.EndNoticed)
		beside := b.speak(group, "said beside", within("telegram:9", session.CallAmbient))
		if e := b.entry(beside); e.State != session.EntryHeard {
			t.Fatalf("what is said beside is %v", e.State)
		}
		b.speak(group, "/unlink", within("telegram:8", session.CallCommand))
		b.speak(group, "said afterwards", within("telegram:9", session.CallAmbient))
		b.speak(group, "two", within("telegram:8", session.CallMention))
		if got := strings.Join(b.log(group), "\n"); strings.Contains(got, "beside") || !strings.Contains(got, "two") {
			t.Errorf("the log of the group's own conversation:\n%s", got)
		}
		b.stopLife()
	})
}

// What the platform has told of, as standing above a question, is context once: that it comes again itself, as after a restart, adds nothing, and
// its edit and its deletion change what was told.
func TestWhatWasToldAboveIsntHeardAgain(t *testing.T) {
	for _, who := range []string{"slack:U2", "slack:U1"} { // U1 is alone with the bot then, and what they say is for it
		t.Run(who, func(t *testing.T) { toldAbove(t, who) })
	}
}

func toldAbove(t *testing.T, who string) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		before := msg(room, who, "said before", inRoom(session.CallAmbient, "Bob"))
		h, p := past{said: []session.Said{{Author: before.Author, Text: before.Text, Message: before.Message}}}, says("ok")
		b := start(t, mem, p, commanded(mem), recalling(&h))
		for range 2 {
			if r := b.accept(before); r.Ignored != session.IgnoredAmbient {
				t.Errorf("the receipt is %+v", r)
			}
			b.accept(msg(room, "slack:U1", "one", inRoom(session.CallMention, "Ann")))
			synctest.Wait()
		}
		b.accept(edit(before, "said otherwise"))
		synctest.Wait()
		b.accept(msg(room, "slack:U1", "two", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		equal(t, "prompt", p.shown(2), []string{"user said otherwise", "user one", "assistant ok", "user one", "assistant ok", "user two"})
		b.accept(deletion(before))
		synctest.Wait()
		b.accept(msg(room, "slack:U1", "three", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		if got := strings.Join(append(p.shown(3), b.log(room)...), "\n"); strings.Contains(got, "said otherwise") || strings.Contains(got, "said before") {
			t.Errorf("what was deleted is still there:\n%s", got)
		}
		b.stopLife()
	})
}
