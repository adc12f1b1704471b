package session_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// grouped makes a message a member of a group.
func grouped(name string, change ...func(*session.Inbound)) func(*session.Inbound) {
	return func(in *session.Inbound) {
		in.Group, in.SettleFor = name, 1500*time.Millisecond
		for _, f := range change {
			f(in)
		}
	}
}

func goesOn(in *session.Inbound) { in.Continues = true }

func forwarding(textOf string) func(*session.Inbound) {
	return func(in *session.Inbound) {
		in.Quotes = []session.Quote{{Kind: session.QuoteForward, Author: "Carol", Text: textOf}}
	}
}

// Report 39: what belongs together is one turn, in whatever order it comes.
func TestAGroupIsOneTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		in   func() []session.Inbound
		want string
	}{
		{"a cut paste", func() []session.Inbound {
			return []session.Inbound{msg(dm, "slack:U1", "first half, sec", grouped("g")), msg(dm, "slack:U1", "ond half", grouped("g", goesOn))}
		}, "user first half, second half"},
		{"a comment comes last, after its forwards", func() []session.Inbound {
			return []session.Inbound{msg(dm, "slack:U1", "what about these?", grouped("g")), msg(dm, "slack:U1", "", grouped("g", forwarding("one"))),
				msg(dm, "slack:U1", "", grouped("g", forwarding("two\nlines")))}
		}, "user Forwarded from Carol:\n\n> one|Forwarded from Carol:\n\n> two\n> lines|what about these?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0))
				in := c.in()
				for i := range in {
					if i > 0 {
						time.Sleep(time.Second)
					}
					in[i].At = time.Now()
					b.accept(in[i])
				}
				time.Sleep(1400 * time.Millisecond)
				if log := b.log(dm); len(log) != 0 {
					t.Errorf("before it has settled: %q", log)
				}
				time.Sleep(time.Second)
				equal(t, "log", b.log(dm)[:1], []string{c.want})
				for _, in := range in {
					b.ended(in, session.EndAnswered)
				}
				b.stopLife()
			})
		})
	}
}

// An album's caption calls the bot for all of it; the other pictures alone would be nobody's, or heard.
func TestAGroupsCallIsThatOfItsMembers(t *testing.T) {
	place := func(call session.Call) func(*session.Inbound) {
		return func(in *session.Inbound) {
			in.Call, in.Place, in.Attachments = call, "slack:C1", []session.Attachment{{ID: "F" + in.Key, Name: "notes.txt"}}
		}
	}
	const c1 = session.Address("slack:T1/C1/1")
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("the caption comes last ", late), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0), fetching(files{"": "text"}))
				a := msg(c1, "slack:U1", "", grouped("g", place(session.CallAmbient)))
				m := msg(c1, "slack:U1", "look", grouped("g", place(session.CallMention)))
				z := msg(c1, "slack:U1", "", grouped("g", place(session.CallAmbient)))
				in := []session.Inbound{m, a, z}
				if late {
					in = []session.Inbound{a, z, m}
				}
				for _, in := range in {
					in.At = time.Now()
					b.accept(in)
					time.Sleep(500 * time.Millisecond)
				}
				time.Sleep(2 * time.Second)
				const file = "File notes.txt:\n\n```txt\ntext\n```"
				equal(t, "log", b.log(c1)[:1], []string{"user " + file + "|look|" + file + "|" + file})
				b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: 3}})
				b.stopLife()
			})
		})
	}
}

func TestAnAmbientGroupOpensNoConversation(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p)
		ambient := func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" }
		b.accept(msg("slack:T1/C1/1", "slack:U1", "x", grouped("g", ambient)))
		time.Sleep(time.Minute)
		if r := b.accept(msg("slack:T1/C1/1", "slack:U1", "y", ambient)); r.Ignored == "" || len(p.prompts()) != 0 {
			t.Errorf("receipt %+v, %d prompts", r, len(p.prompts()))
		}
		b.stopLife()
	})
}

func TestALateMemberIsATurnOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		now := func(in *session.Inbound) { in.At = time.Now() }
		b.accept(msg(dm, "slack:U1", "a", grouped("g", now)))
		time.Sleep(5 * time.Second)
		b.accept(msg(dm, "slack:U1", "b", grouped("g", goesOn, now)))
		time.Sleep(5 * time.Second)
		equal(t, "log", b.log(dm), []string{"user a", "assistant re: a", "user b", "assistant re: b"})
		b.stopLife()
	})
}

// A wrong clock, of the platform or here, holds nobody up; nor does a group hold up another address of the thread, or what comes then.
func TestSettlingHoldsUpNobody(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		ahead := func(in *session.Inbound) { in.At = time.Now().Add(time.Hour) }
		in := msg(dm, "slack:U1", "a", grouped("g", ahead))
		b.accept(in)
		other := msg("slack:T1/D2", "slack:U2", "other")
		b.accept(other)
		time.Sleep(1400 * time.Millisecond)
		b.ended(other, session.EndAnswered)
		after := msg(dm, "slack:U1", "after")
		b.accept(after)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.ended(after, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user a|after", "assistant re: a|after"})
		b.stopLife()
	})
}

// Whatever commit the process dies at while a group settles: one turn.
func TestDeathAtEveryCommitOfAGroup(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for first := range 7 {
			for second := range 5 {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					p := echo(100 * time.Millisecond)
					in := []session.Inbound{msg(dm, "slack:U1", "a", grouped("g")), msg(dm, "slack:U1", "b", grouped("g", goesOn)),
						msg(dm, "slack:U1", "c", grouped("g", goesOn))}
					at := time.Now()
					for _, left := range []int{first, second, 1 << 30} {
						for i := range in {
							in[i].At = at
						}
						c := &crashing{Memory: mem, left: left, applied: applied}
						c.life(t, p, in)
					}
					b := &bench{t: t, store: mem}
					log := b.log(dm)
					if said := fmt.Sprint(log); said != "[user abc assistant re: abc]" {
						t.Errorf("%v/%d/%d: log %q", applied, first, second, log)
					}
				})
			}
		}
	}
}

// hesitant is a store that takes ten seconds to name each entry.
type hesitant struct{ *storetest.Memory }

func (h hesitant) Watch(ctx context.Context, f func(session.EntryID)) error {
	return h.Memory.Watch(ctx, func(id session.EntryID) {
		f(id)
		time.Sleep(10 * time.Second)
	})
}

// A turn that is resumed after a restart is answered once, even where its messages are named one after its answer.
func TestATurnIsResumedForAllOfItsMessages(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Hour), func(c *session.Config) { c.ShutdownGrace = 0 })
		now := func(in *session.Inbound) { in.At = time.Now() }
		one, two := msg(dm, "slack:U1", "a", grouped("g", now)), msg(dm, "slack:U1", "b", grouped("g", goesOn, now))
		b.accept(one)
		b.accept(two)
		time.Sleep(5 * time.Second)
		b.stopLife()
		b = start(t, mem, echo(time.Second), func(c *session.Config) { c.Store = hesitant{mem} })
		time.Sleep(time.Minute)
		b.ended(one, session.EndAnswered)
		b.ended(two, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user ab", "assistant re: ab"})
		b.stopLife()
	})
}
