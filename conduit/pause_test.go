package conduit_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// told is an answer that asks for d of silence.
func told(d time.Duration) conduittest.Trouble {
	return conduittest.Trouble{Err: &conduit.Error{Class: conduit.RetryAfter, After: d}}
}

// chatOf lets the topics of a chat share what the platform limits: "mem:a/1" and "mem:a/2" are of one.
func chatOf(a session.Address) string { return a.Place()[:1] }

// deliverTo binds each address to a thread of its own with one answer.
func (b *bench) deliverTo(as ...session.Address) {
	b.t.Helper()
	for i, a := range as {
		w := conduittest.NewWriter(b.store, byte(i))
		w.Thread[1], w.Thread[2] = byte(i>>8), 1
		b.must(w.Bind(a))
		b.must(w.Answer("hello"))
	}
}

// after returns how long after start the first message at a came.
func (b *bench) after(a session.Address, start time.Time) time.Duration {
	b.t.Helper()
	if len(b.p.At(a)) == 0 {
		b.t.Fatalf("%s shows nothing", a)
	}
	return b.p.At(a)[0].At.Sub(start)
}

// Report 16: a chat that is told to wait waits with all its topics, and two topics of one chat that are told so don't stop the others.
func TestAPauseIsTheChats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.cfg.Place = chatOf
		b.deliverTo("mem:a/1", "mem:a/2")
		soon := conduittest.Trouble{Hang: time.Second, Err: told(19 * time.Second).Err} // both posts are under way then
		b.p.Next("mem:a/1", soon)
		b.p.Next("mem:a/2", soon)
		start := time.Now()
		l := b.start("one")
		time.Sleep(2 * time.Second)
		for i, a := range []session.Address{"mem:a/3", "mem:b"} {
			w := conduittest.NewWriter(b.store, byte(100+i))
			b.must(w.Bind(a))
			b.must(w.Answer("hello"))
			l.c.Nudge(a)
		}
		l.rest(time.Minute)
		for a, want := range map[session.Address]time.Duration{"mem:a/1": 20 * time.Second, "mem:a/3": 20 * time.Second, "mem:b": 2 * time.Second} {
			if got := b.after(a, start); got != want {
				t.Errorf("%s came after %v, want %v", a, got, want)
			}
		}
		if n := b.p.Tries(); n != 6 {
			t.Errorf("%d posts were tried", n)
		}
	})
}

// A platform that asks for fewer look-ups says nothing about posts.
func TestLookUpsPauseNoPost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA, placeB))
		b.must(b.w.Answer("answer"))
		for _, a := range []session.Address{placeA, placeB} {
			b.p.Next(a, failing(true, 0))
			b.p.NextFind(a, told(time.Minute).Err)
		}
		start := time.Now()
		l := b.start("one")
		time.Sleep(20 * time.Second) // both look-ups were refused after 10 s
		w := conduittest.NewWriter(b.store, 2)
		b.must(w.Bind(placeC))
		b.must(w.Answer("hello"))
		l.c.Nudge(placeC)
		l.rest(2 * time.Minute)
		if got := b.after(placeC, start); got != 20*time.Second {
			t.Errorf("c came after %v", got)
		}
		b.wantTexts(placeA, "answer")
	})
}

// Those who queue for a post while everybody has to wait don't post all at once afterwards.
func TestNoBurstAfterAPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.cfg.Pacer = conduit.NewPacer(conduit.Rate{Limit: 10, Burst: 1}, func(a session.Address) (string, conduit.Rate) {
			return string(a), conduit.Rate{Limit: rate.Inf, Burst: 1}
		})
		var as []session.Address
		for i := range 100 {
			as = append(as, session.Address(fmt.Sprintf("mem:%03d", i)))
		}
		b.deliverTo(as...)
		n := 0
		b.p.Chance = func(session.Address) conduittest.Trouble {
			if n++; n <= 2 {
				return told(30 * time.Second)
			}
			return conduittest.Trouble{}
		}
		start := time.Now()
		b.start("one").rest(time.Minute)
		inSecond := 0
		var first time.Time
		for _, a := range as {
			at := b.p.At(a)[0].At
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
		if d := first.Sub(start); d < 30*time.Second {
			t.Errorf("a post after %v, in the pause", d)
		}
		for _, a := range as {
			if b.after(a, first) < time.Second {
				inSecond++
			}
		}
		if inSecond > 12 {
			t.Errorf("%d posts in the first second after the pause", inSecond)
		}
	})
}
