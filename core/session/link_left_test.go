package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// interrupted lets a chat use a code while the conversation that it is to join is busy, and ends the life before it was taken in.
func interrupted(t *testing.T, mem *storetest.Memory) (link session.Inbound) {
	t.Helper()
	b := start(t, mem, echo(time.Hour), linking(mem, "dm"), func(c *session.Config) { c.ShutdownGrace = 0 })
	code := b.code(dm)
	b.speak(dm, "takes long")
	link = b.speak(tg, "/link "+code)
	b.stopLife()
	if st := at(t, mem, tg); !st.Binding.Joining {
		t.Fatalf("the chat has joined: %+v", st.Binding)
	}
	return link
}

// A line that has no place in the order of messages, such as an operator's, comes first after a restart. The chat is told of its link before
// that all the same, and so are the others.
func TestALinkIsToldBeforeWhatCameLater(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		link := interrupted(t, mem)
		note := session.Entry{ID: session.EntryID{Address: tg, Key: "note"}, Notice: "From the operator."}
		note.Inbound = session.Inbound{Key: "note", Address: tg, Author: session.Author{ID: "telegram:operator", Known: true}, At: time.Now()}
		if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{{Entry: note}}}); err != nil {
			t.Fatal(err)
		}
		b := start(t, mem, echo(time.Second), linking(mem, "dm"))
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(link, session.EndNoticed)
		b.ended(note.Inbound, session.EndNoticed)
		equal(t, "Telegram", b.shown(tg), []string{joined, "- From the operator."})
		b.stopLife()
	})
}

// unreadable is a store in which a thread's state can't be read.
type unreadable struct {
	*storetest.Memory
	id ledger.ThreadID
}

func (u unreadable) Thread(ctx context.Context, id ledger.ThreadID) (session.Thread, session.Revision, bool, error) {
	if id == u.id {
		return session.Thread{}, session.Revision{}, false, &session.CorruptError{Thread: id, Err: errors.New("bad")}
	}
	return u.Memory.Thread(ctx, id)
}

// Where the conversation of a used code can't be read at all, the chat has its own again, and is told.
func TestAUsedCodeThatLeadsIntoRuins(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		link := interrupted(t, mem)
		b := start(t, unreadable{mem, at(t, mem, dm).Binding.Thread}, echo(0), linking(mem, "dm"))
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(link, session.EndNoticed)
		b.speak(tg, "mine")
		equal(t, "Telegram", b.shown(tg), []string{"- That code isn't valid any more. Ask for a new one there.", "re: mine"})
		b.stopLife()
	})
}

// A link whose message ended without a word, and nothing else, keeps nobody out of their own conversation.
func TestAnAddressThatNobodyTakesInHasItsOwnAgain(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		link := interrupted(t, mem)
		b := &bench{t: t, store: mem}
		e := b.entry(link)
		e.State, e.End = session.EntryEnded, session.EndUndeliverable
		if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(),
			Entries: []session.EntryWrite{{Rev: e.Rev, Entry: e.Entry}}}); err != nil {
			t.Fatal(err)
		}
		b = start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(tg, "mine")
		equal(t, "Telegram", b.shown(tg), []string{"re: mine"})
		equal(t, "Telegram's own log", b.log(tg), []string{"user mine", "assistant re: mine"})
		b.stopLife()
	})
}

// linkUp joins private chats of Telegram to the conversation at dm until it is shown at n places, and checks that each is told so.
func (b *bench) linkUp(n int) {
	b.t.Helper()
	for k := range n - 1 {
		a := session.Address(fmt.Sprintf("telegram:1%d", k))
		b.ended(b.speak(a, "/link "+b.code(dm)), session.EndNoticed)
		if got := b.last(a); !strings.Contains(got, "Linked with") {
			b.t.Errorf("%s is told %q", a, got)
		}
	}
}

// The ninth place is told that there are eight, and keeps its own conversation. Its code isn't used up by that.
func TestTheNinthPlace(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const ninth = session.Address("telegram:17")
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		b.linkUp(session.MaxLinked)
		code := b.code(dm)
		for range 2 {
			b.ended(b.speak(ninth, "/link "+code), session.EndNoticed)
			if got := b.last(ninth); !strings.Contains(got, "eight places already") || !strings.Contains(got, "write the code again") {
				t.Errorf("the ninth place is told %q", got)
			}
		}
		b.speak(ninth, "mine")
		if got := b.last(ninth); got != "re: mine" || b.last(dm) == got {
			t.Errorf("the ninth place is shown %q, the first %q", got, b.last(dm))
		}
		b.speak("telegram:10", "/unlink")
		b.speak(ninth, "/link "+code)
		if got := b.last(ninth); !strings.Contains(got, "Linked with") {
			t.Errorf("with the same code, once there is room: %q", got)
		}
		b.stopLife()
	})
}

// Of two codes that are written at the same time where there is room for one place, one joins.
func TestTwoCodesForTheLastPlace(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(10*time.Second), linking(mem, "dm"))
		b.speak(dm, "hi")
		time.Sleep(time.Minute)
		b.linkUp(session.MaxLinked - 1)
		codes := []string{b.code(dm), b.code(dm)}
		b.speak(dm, "takes a while") // so that both are used before either is taken in
		var told []string
		for k, code := range codes {
			b.accept(msg(session.Address(fmt.Sprintf("telegram:2%d", k)), "telegram:8", "/link "+code))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for k := range codes {
			told = append(told, b.last(session.Address(fmt.Sprintf("telegram:2%d", k))))
		}
		for _, want := range []string{"Linked with", "eight places already"} {
			if n := strings.Count(strings.Join(told, "\n"), want); n != 1 {
				t.Errorf("%d are told %q: %q", n, want, told)
			}
		}
		b.stopLife()
	})
}

// `mute` holds where it is given, and not at places that are linked to that.
func TestMuteOfOnePlaceAlone(t *testing.T) {
	const channel = session.Address("slack:T1/C1/1")
	here := func(in *session.Inbound) { in.Call, in.Place, in.Author.Admin = session.CallMention, "slack:C1", true }
	there := func(in *session.Inbound) {
		in.Call, in.Place, in.Author.ID, in.Author.Admin = session.CallCommand, "telegram:-100", "slack:U1", true
	}
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "threads"))
		b.speak(channel, "hi", here)
		b.speak(group, "/link "+b.code(channel, here), there)
		talk := func() bool {
			in := msg(channel, "slack:U1", "talk", here)
			in.Call = session.CallAmbient
			r := b.accept(in)
			time.Sleep(time.Second)
			return !r.Heard
		}
		check := func(what string, followed bool) {
			t.Helper()
			if talk() != followed {
				t.Errorf("after %s, talk in the channel is answered: %v", what, !followed)
			}
		}
		check("the link", true)
		b.speak(group, "/mute", there)
		check("mute in the group", true)
		b.speak(channel, "!status", here)
		if got := b.last(channel); strings.Contains(got, "Muted") {
			t.Errorf("status in the channel says %q", got)
		}
		b.speak(channel, "!mute", here)
		check("mute", false)
		b.speak(group, "/follow", there)
		check("follow in the group", false)
		b.m.Forget()
		check("follow in the group, read anew", false)
		b.speak(channel, "!follow", here)
		check("follow", true)
		b.stopLife()
	})
}

// A blank of any kind stands between `link history` and the number.
func TestLinkHistoryOnTwoLines(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "before")
		b.speak(tg, "/link "+b.code(dm))
		for _, blank := range []string{"\n", "\t", " \n ", "\u00a0"} {
			b.speak(tg, "/link history"+blank+"1")
			if got := b.last(tg); !strings.Contains(got, "re: before") {
				t.Errorf("with %q: %q", blank, got)
			}
		}
		b.stopLife()
	})
}
