package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// What is delivered again long after it was answered counts neither as sent nor as told (report 65).
func TestARedeliveryUsesNothingUp(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{PerMinute: 1}))
		one := b.tell("one")[0]
		time.Sleep(time.Minute)
		b.accept(one)
		b.ended(b.tell("two")[0], session.EndAnswered)
		b.accept(one) // beyond the limit, were it new
		b.ended(b.tell("three")[0], session.EndNoticed)
		b.ended(b.tell("four")[0], session.EndRefused)
		b.stopLife()
	})
}

// An album that fills the minute is whole, and what follows it is the first to be told of the limit.
func TestTheRestOfAnAlbumIsWithinTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{PerMinute: 1}))
		var album []session.Inbound
		for range 3 {
			in := msg(dm, "slack:U1", "picture", func(in *session.Inbound) { in.Group, in.SettleFor = "g", time.Second })
			b.accept(in)
			album = append(album, in)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, in := range album {
			b.ended(in, session.EndAnswered)
		}
		b.ended(b.tell("beyond")[0], session.EndNoticed)
		b.stopLife()
	})
}

// Who has waited as told, and goes on at the edge, isn't told at every step.
func TestTheEdgeOfAMinuteIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{PerMinute: 1}))
		b.tell("one")
		time.Sleep(58 * time.Second)
		b.ended(b.tell("too early")[0], session.EndNoticed) // at 59 s
		b.ended(b.tell("two")[0], session.EndAnswered)      // at 60 s
		b.ended(b.tell("again")[0], session.EndRefused)
		time.Sleep(10 * time.Second)
		b.ended(b.tell("and again")[0], session.EndNoticed)
		b.stopLife()
	})
}

// Each time that too many wait, the first one beyond is told.
func TestEachFullQueueIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Minute), limited(session.Limits{Waiting: 1}))
		for range 2 {
			in := b.tell("long", "waits", "beyond", "beyond, too")
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			for i, want := range []session.End{session.EndAnswered, session.EndAnswered, session.EndNoticed, session.EndRefused} {
				b.ended(in[i], want)
			}
		}
		b.stopLife()
	})
}

// What one person uses up in a day is no other's.
func TestTokensOfOthersDontCount(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return append(text("ok"), artifact.Usage{PromptTokens: 90, CompletionTokens: 10, TotalTokens: 100}), nil
		}}
		b := start(t, mem, p, limited(session.Limits{TokensPerDay: 100}))
		for _, who := range []string{"slack:U2", "slack:U1", "slack:U3"} { // neighbours in the store, on either side
			a := session.Address("slack:T1/D" + who[len("slack:U"):])
			for _, want := range []session.End{session.EndAnswered, session.EndNoticed} {
				in := msg(a, who, "q")
				b.accept(in)
				synctest.Wait()
				b.ended(in, want)
			}
		}
		b.stopLife()
	})
}
