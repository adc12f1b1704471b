package session_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

func limited(l session.Limits) func(*session.Config) {
	return func(c *session.Config) { c.Limits = l }
}

// notices returns the lines that the chat was told.
func (b *bench) notices() (out []string) {
	for _, ev := range b.events() {
		if _, text, ok := strings.Cut(ev, " notice "); ok {
			out = append(out, text)
		}
	}
	return out
}

// Report 65: a full measure is never silence at first. The first message beyond it gets a line that says when to go on, the others
// are refused and counted; the operator's log has one line for the streak.
func TestTwentyAMinute(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		var log bytes.Buffer
		b := start(t, mem, echo(0), commanded(mem), limited(session.Limits{PerMinute: 20}), func(c *session.Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		all := b.tell(strings.Split(strings.TrimSuffix(strings.Repeat("q,", 23), ","), ",")...)
		for i, in := range all {
			want := session.EndAnswered
			switch {
			case i == 20:
				want = session.EndNoticed
			case i > 20:
				want = session.EndRefused
			}
			b.ended(in, want)
		}
		equal(t, "notices", b.notices(), []string{"20 a minute is the limit; go on in 40 s."})
		b.ended(b.tell("/help")[0], session.EndNoticed) // a command that runs beside a turn is free
		if n := strings.Count(log.String(), `msg="`+observe.MsgLimitReached+`"`); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
		b.ended(b.tell("q")[0], session.EndRefused)
		other := msg(dm, "slack:U2", "q", func(in *session.Inbound) { in.Call = session.CallMention })
		b.accept(other)
		time.Sleep(37 * time.Second) // when it was said
		synctest.Wait()
		b.ended(other, session.EndAnswered)
		b.ended(b.tell("q")[0], session.EndAnswered)
		b.stopLife()
	})
}

// What a platform delivers again, an edit, and the rest of an album don't count.
func TestRedeliveriesEditsAndAlbumsCountOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{PerMinute: 3, Waiting: 1}))
		one := msg(dm, "slack:U1", "one")
		for range 5 {
			b.accept(one)
		}
		time.Sleep(time.Second)
		for i := range 5 {
			b.accept(edit(one, fmt.Sprint("one, version ", i)))
		}
		for range 4 {
			b.accept(msg(dm, "slack:U1", "album", func(in *session.Inbound) { in.Group, in.SettleFor = "g", time.Second }))
		}
		time.Sleep(2 * time.Second)
		b.ended(b.tell("three")[0], session.EndAnswered)
		for range 5 {
			if r := b.accept(one); !r.Duplicate {
				t.Errorf("delivered again: %+v", r)
			}
		}
		four := b.tell("four")[0]
		b.ended(four, session.EndNoticed)
		if r := b.accept(four); !r.Duplicate {
			t.Errorf("the refused one, again: %+v", r)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.accept(four) // must not use the streak up, nor a place
		b.ended(b.tell("five")[0], session.EndAnswered)
		b.stopLife()
	})
}

// Reports 64 and 65: what is beyond the queue is told at once, while the answer before it is still being made.
func TestFiveWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, halfway(), commanded(mem), limited(session.Limits{Waiting: 5}))
		first := b.tell("long")[0]
		waiting := b.tell("a", "b", "c", "d", "e")
		beyond := b.tell("f", "g")
		b.ended(beyond[0], session.EndNoticed)
		b.ended(beyond[1], session.EndRefused)
		equal(t, "notices", b.notices(), []string{"5 waiting is the limit; go on when one is answered. `/stop` withdraws."})
		b.stopLife()

		b = start(t, mem, halfway(), commanded(mem), limited(session.Limits{Waiting: 5})) // what waits is counted in the next life too
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		b.ended(b.tell("h")[0], session.EndNoticed)
		b.ended(b.tell("/stop")[0], session.EndNoticed)
		for _, in := range append(waiting, first) {
			b.ended(in, session.EndWithdrawn)
		}
		b.ended(b.tell("quick")[0], session.EndAnswered)
		b.stopLife()
	})
}

// Report 65: of whom it isn't known yet whether they may talk to the bot, that is found out beside the turn: then they are told at once, too,
// and whoever may not isn't told of limits.
func TestFiveWaitingOfAStranger(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		who := &people{}
		b := start(t, mem, halfway(), commanded(mem), limited(session.Limits{Waiting: 1}), side(func(p *session.Platform) { p.People = who }))
		unknown := func(in *session.Inbound) { in.Author.Known = false }
		say := func(author, text string) session.Inbound {
			in := msg(dm, author, text, unknown)
			b.accept(in)
			synctest.Wait()
			return in
		}
		first, second := say("slack:U1", "long"), say("slack:U1", "a")
		b.ended(say("slack:U1", "b"), session.EndNoticed)
		b.ended(say("slack:U1", "c"), session.EndRefused)
		say("slack:GUEST", "a")
		say("slack:GUEST", "b")
		over := say("slack:GUEST", "c")
		who.down = true
		say("slack:U1", "d") // waits until that can be said again
		who.down = false
		b.ended(say("slack:U1", "/stop"), session.EndNoticed)
		for _, in := range []session.Inbound{first, second} {
			b.ended(in, session.EndWithdrawn)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(over, session.EndRefused)
		if got := b.notices(); len(got) != 3 || got[0] != "1 waiting is the limit; go on when one is answered. `/stop` withdraws." {
			t.Errorf("notices %q", got)
		}
		b.stopLife()
	})
}

// Report 82: a budget for each person, which begins anew with the day.
func TestTokensADay(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return []artifact.Artifact{artifact.Text{Content: "ok"}, artifact.Usage{PromptTokens: 700, CompletionTokens: 300}}, nil
		}}
		b := start(t, mem, p, commanded(mem), limited(session.Limits{TokensPerDay: 2000}), func(c *session.Config) { c.MaxAge = 0 })
		time.Sleep(18 * time.Hour) // the bubble begins at midnight
		got := b.tell("one", "two", "three", "four", "/retry")
		for i, want := range []session.End{session.EndAnswered, session.EndAnswered, session.EndNoticed, session.EndRefused, session.EndRefused} {
			b.ended(got[i], want)
		}
		equal(t, "notices", b.notices(), []string{"2,000 tokens a day is the limit; go on in 6 h."})
		if len(p.prompts()) != 2 {
			t.Errorf("%d calls", len(p.prompts()))
		}
		b.stopLife()
		b = start(t, mem, p, commanded(mem), limited(session.Limits{TokensPerDay: 2000}), func(c *session.Config) { c.MaxAge = 0 })
		b.ended(b.tell("again")[0], session.EndRefused) // a restart doesn't tell it again
		other := msg("slack:T1/D9", "slack:U1", "elsewhere")
		b.accept(other)
		synctest.Wait()
		b.ended(other, session.EndNoticed) // where nobody was told, nobody knows
		equal(t, "notices", b.notices(), []string{"2,000 tokens a day is the limit; go on in 6 h."})
		tidied(t, mem, time.Now(), 2)
		time.Sleep(6 * time.Hour)
		b.ended(b.tell("five", "six", "seven")[2], session.EndNoticed)
		time.Sleep(25 * time.Hour)
		tidied(t, mem, time.Now(), 0)
		b.stopLife()
	})
}

// tidied tidies up and counts what is kept of who was told of the day's limit.
func tidied(t *testing.T, mem *storetest.Memory, now time.Time, want int) {
	t.Helper()
	if err := (&session.Doors{Store: mem, Book: access.NewBook()}).Tidy(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if left, err := mem.SmallList(t.Context(), "spent", "", 10); err != nil || len(left) != want {
		t.Errorf("%d notes are kept, want %d (%v)", len(left), want, err)
	}
}

func TestALargeMessageIsToldItsSize(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{InputBytes: 1000}))
		got := b.tell(strings.Repeat("x", 1001), strings.Repeat("x", 1000))
		b.ended(got[0], session.EndNoticed)
		b.ended(got[1], session.EndAnswered)
		equal(t, "notices", b.notices(), []string{"That is 1,001 bytes; 1,000 is the limit. Please send less."})
		if e := b.entry(got[0]); e.Inbound.Text != "" {
			t.Error("its text was kept")
		}
		b.stopLife()
	})
}

// Somebody who goes on at the limit's edge is told once a minute, not at each message.
func TestAFloodIsToldOnceAMinute(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), limited(session.Limits{PerMinute: 10}))
		for range 300 {
			b.tell("q")
		}
		if n := len(b.notices()); n < 2 || n > 6 {
			t.Errorf("%d notices in five minutes", n)
		}
		b.stopLife()
	})
}
