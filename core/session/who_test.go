package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// Report 81: who isn't let in gets one line a day, and costs no call.
func TestARefusalIsSaidOnceADay(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p, func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Pairing}}
		})
		for range 5 {
			in := msg(dm, "slack:U9", "let me in")
			b.accept(in)
			synctest.Wait()
			b.ended(in, session.EndRefused)
		}
		if n := len(b.events()); n != 1 {
			t.Errorf("a stranger got %d lines, want 1: %q", n, b.events())
		}
		time.Sleep(25 * time.Hour)
		b.accept(msg(dm, "slack:U9", "let me in"))
		synctest.Wait()
		if n := len(b.events()); n != 2 {
			t.Errorf("after a day the stranger has got %d lines, want 2", n)
		}
		if len(p.prompts()) != 0 {
			t.Error("a stranger cost a model call")
		}
		b.stopLife()
	})
}

func TestOnesRefusalIsNotAnothers(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Members, Places: []string{"slack:C1"}}}
		})
		say := func(place, author string, guest bool) int {
			before := len(b.events())
			in := msg(session.Address("slack:T1/"+place+"/1.0"), author, "hi", func(in *session.Inbound) {
				in.Call, in.Place, in.Author.Guest = session.CallMention, "slack:"+place, guest
			})
			b.accept(in)
			synctest.Wait()
			b.ended(in, session.EndRefused)
			return len(b.events()) - before
		}
		for i, c := range []struct {
			place, author string
			guest         bool
			lines         int
		}{{"C1", "slack:G1", true, 1}, {"C1", "slack:G1", true, 0}, {"C1", "slack:G2", true, 1}, {"C9", "slack:U1", false, 1}, {"C9", "slack:U2", false, 0}} {
			if got := say(c.place, c.author, c.guest); got != c.lines {
				t.Errorf("case %d: %d lines, want %d", i, got, c.lines)
			}
		}
		b.stopLife()
	})
}

// people knows one guest and can be out of order.
type people struct{ down bool }

func (p *people) Person(_ context.Context, _ session.Address, who session.Author) (session.Author, error) {
	if p.down {
		return who, errors.New("no answer")
	}
	who.Known, who.Guest = true, who.ID == "slack:GUEST"
	return who, nil
}

func TestAPersonIsLookedUpBeforeTheirMessageReachesTheModel(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		who := &people{}
		b := start(t, mem, echo(0), func(c *session.Config) {
			pl := c.Platforms["slack"]
			pl.People = who
			c.Platforms["slack"] = pl
		})
		unknown := func(in *session.Inbound) { in.Author.Known = false }
		member, guest := msg(dm, "slack:U1", "hi", unknown), msg("slack:T1/D2", "slack:GUEST", "hi", unknown)
		b.accept(member)
		b.accept(guest)
		synctest.Wait()
		b.ended(member, session.EndAnswered)
		b.ended(guest, session.EndRefused)
		who.down = true
		late := msg(dm, "slack:U1", "still there?", unknown)
		b.accept(late)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		b.ended(late, session.EndNoticed)
		b.stopLife()
	})
}

// Who calls is answered; what stands beside it in a conversation is heard.
func TestWhoIsHeardAndWhoIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const thread = session.Address("slack:T1/C1/1.0")
		b := start(t, mem, echo(0))
		say := func(author, text string, call session.Call, change ...func(*session.Inbound)) (session.Inbound, session.Receipt) {
			in := msg(thread, author, text, change...)
			in.Call, in.Place = call, "slack:C1"
			r := b.accept(in)
			synctest.Wait()
			return in, r
		}
		if _, r := say("slack:U1", "nobody asked", session.CallAmbient); r.Ignored != session.IgnoredAmbient {
			t.Errorf("ambient talk without a conversation: %+v", r)
		}
		asked, _ := say("slack:U1", "hi bot", session.CallMention)
		b.ended(asked, session.EndAnswered)
		follow, _ := say("slack:U1", "and then?", session.CallAmbient)
		b.ended(follow, session.EndAnswered)
		elsewhere := func(in *session.Inbound) { in.Elsewhere = true }
		if _, r := say("slack:U1", "@bob look", session.CallAmbient, elsewhere); !r.Heard {
			t.Errorf("a message to somebody else: %+v, want heard", r)
		}
		if _, r := say("slack:U1", "@bob ask @bot", session.CallMention, elsewhere); !r.Heard {
			t.Errorf("a message to somebody else that names the bot: %+v, want heard", r)
		}
		if _, r := say("slack:U2", "I see", session.CallAmbient); !r.Heard {
			t.Errorf("a second person: %+v, want heard", r)
		}
		if _, r := say("slack:U1", "more?", session.CallAmbient); !r.Heard {
			t.Errorf("the first person beside a second: %+v, want heard", r)
		}
		second, _ := say("slack:U2", "and I?", session.CallMention)
		b.ended(second, session.EndAnswered)
		b.stopLife()

		b = start(t, mem, echo(0)) // it holds after a restart
		if _, r := say("slack:U1", "more?", session.CallAmbient); !r.Heard {
			t.Errorf("after a restart: %+v, want heard", r)
		}
		b.stopLife()
	})
}

func TestAFollowUpInTheSameInstantIsNotLost(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const thread = session.Address("slack:T1/C1/1.0")
		b := start(t, mem, echo(0))
		mem.Hold()
		first, second := msg(thread, "slack:U1", "hi"), msg(thread, "slack:U1", "one more thing")
		first.Call, second.Call = session.CallMention, session.CallAmbient
		var got []session.Receipt
		b.m.Accept(t.Context(), first, func(r session.Receipt) { got = append(got, r) })
		b.m.Accept(t.Context(), second, func(r session.Receipt) { got = append(got, r) })
		mem.Release()
		synctest.Wait()
		b.ended(first, session.EndAnswered)
		b.ended(second, session.EndAnswered)
		b.stopLife()
	})
}
