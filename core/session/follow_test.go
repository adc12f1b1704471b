package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// delivering lets couriers show what there is at Slack's places on a platform, in this life.
func delivering(t *testing.T, st session.Store, lease session.Lease, life string, p *conduittest.Platform) (c *conduit.Couriers, stop func()) {
	t.Helper()
	c, err := conduit.New(conduit.Config{Name: "slack", Store: st, Lease: lease, Renderer: conduittest.Text{Limit: 200}, Poster: p.Finding(), Life: life})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return c, func() { cancel(); <-done }
}

// forth returns the questions that were written elsewhere, as Slack's DM shows them now.
func forth(p *conduittest.Platform) (out []string) {
	for _, s := range p.Texts(dm) {
		if q, ok := strings.CutPrefix(s, "telegram:8: "); ok {
			out = append(out, q)
		}
	}
	return out
}

// What a place was shown of a question follows that, while it waits for its answer and afterwards, at once: an edit, a deletion, a forward
// that joins. It costs nothing where nothing is linked.
func TestWhatAnotherPlaceWasShownFollows(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &conduittest.Platform{}
		b := start(t, mem, echo(20*time.Second), linking(mem, "dm"))
		c, stop := delivering(t, mem, mem, "life", p)
		b.m.Listen(conduit.Kinds(), c.Hear)
		b.speak(tg, "/link "+b.code(dm))
		check := func(what string, want ...string) {
			t.Helper()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := forth(p); !slices.Equal(got, want) {
				t.Errorf("after %s Slack shows %q, want %q", what, got, want)
			}
		}
		over := func() { time.Sleep(time.Minute); synctest.Wait() }
		one := b.speak(tg, "one")
		check("a question", "one")
		b.accept(edit(one, "1"))
		check("its edit in mid-answer", "1")
		over()
		b.accept(edit(one, "first"))
		check("its edit afterwards", "first")
		two := b.speak(tg, "two")
		b.accept(deletion(two))
		check("a deletion in mid-answer", "first")
		over()
		b.ended(two, session.EndWithdrawn)
		b.accept(deletion(one))
		b.accept(deletion(one))
		check("a deletion afterwards")
		b.say([]later{{0, msg(tg, "telegram:8", "what of these?", grouped("g", soon))}, {900 * time.Millisecond, msg(tg, "telegram:8", "", grouped("g", forwarding("three")))}})
		check("a forward that joins", carol+"three\n\nwhat of these?")
		over()
		ours := b.speak(dm, "ours")
		over()
		b.accept(edit(ours, "ours still"))
		check("an edit of Slack's own", carol+"three\n\nwhat of these?")
		b.speak(dm, "!unlink")
		mine := b.speak(tg, "mine")
		over()
		n := len(b.log(tg))
		b.accept(deletion(mine))
		over()
		if got := b.log(tg); len(got) != n {
			t.Errorf("where nothing is linked, a deletion adds %q", got[n:])
		}
		stop()
		b.stopLife()
	})
}

// Whatever commit the process dies at, of the conversation's or of a courier's, the other place shows in the end what the questions say,
// each once.
func TestDeathAtEveryCommitOfWhatFollows(t *testing.T) {
	atEveryDeath(t, 22, func(t *testing.T, mem *storetest.Memory, applied bool, left int) {
		p := &conduittest.Platform{}
		b := start(t, mem, echo(time.Second), linking(mem, "dm"))
		b.speak(tg, "/link "+b.code(dm))
		one, two := b.speak(tg, "one"), b.speak(tg, "two")
		time.Sleep(time.Minute)
		b.stopLife()
		_, stop := delivering(t, mem, mem, "zero", p)
		time.Sleep(time.Minute)
		stop()
		in := []session.Inbound{edit(one, "first"), deletion(two), msg(tg, "telegram:8", "three")}
		in = append(in, edit(in[2], "third"))
		for i, n := range []int{left, 1 << 30} {
			c := &crashing{Memory: mem, left: n, applied: applied}
			couriers, stop := delivering(t, c, mem, []string{"one", "two"}[i], p)
			c.listen = couriers.Hear
			c.run(t, echo(500*time.Millisecond), in, linking(mem, "dm"))
			stop()
		}
		_, stop = delivering(t, mem, mem, "three", p)
		time.Sleep(time.Minute)
		stop()
		if got := forth(p); !slices.Equal(got, []string{"first", "third"}) {
			t.Errorf("Slack shows %q", p.Texts(dm))
		}
		equal(t, "what is left of the deleted one", holds(t, mem, tg, "two"), nil)
	})
}

// A question of before `new` has nobody who follows it, and one of before a place joined isn't shown there by being edited.
func TestWhatDoesNotFollow(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &conduittest.Platform{}
		b := start(t, mem, echo(0), linking(mem, "dm"))
		c, stop := delivering(t, mem, mem, "life", p)
		b.m.Listen(conduit.Kinds(), c.Hear)
		before := b.speak(dm, "before")
		b.speak(tg, "/link "+b.code(dm))
		old := b.speak(tg, "old")
		home := at(t, mem, dm).Binding.Thread
		b.accept(edit(before, "before, edited"))
		b.speak(tg, "/new")
		b.accept(edit(old, "old, edited"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := forth(p); !slices.Equal(got, []string{"old"}) {
			t.Errorf("Slack shows %q", got)
		}
		if recs, err := mem.Log(t.Context(), home, 1, 100); err != nil || !slices.ContainsFunc(recs, func(r session.LogRecord) bool {
			return r.Kind == session.KindAmendment && r.Amendment.Turn > ledger.Seq(2)
		}) {
			t.Errorf("the ledger isn't amended: %v, %v", recs, err)
		}
		stop()
		b.stopLife()
	})
}
