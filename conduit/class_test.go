package conduit_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// TestClasses meets each class once, or as often as it says, before the answer "0123456789abc" (two parts) goes through. Reports 10, 18
// and 20: an unknown outcome is one labelled repeat at most, what is too big is cut smaller, what is refused comes as plain text.
func TestClasses(t *testing.T) {
	const one, two, miss = "0123456789", "abc", "Part of my answer may be missing."
	plain := func(n int) (ts []conduittest.Trouble) {
		for range n {
			ts = append(ts, refuse(conduit.Malformed))
		}
		return ts
	}
	big := refuse(conduit.TooBig)
	lost, there := failing(false, 0), failing(true, 0)
	for _, c := range []struct {
		name     string
		finds    bool
		troubles []conduittest.Trouble
		want     []string
		repeats  float64
	}{
		{"retry", false, []conduittest.Trouble{refuse(conduit.Retry), refuse(conduit.Retry)}, []string{one, two}, 0},
		{"malformed once", false, plain(1), []string{"plain: " + one, two}, 0},
		{"malformed twice", false, plain(2), []string{miss[:10], two}, 0},
		{"malformed thrice", false, plain(3), []string{two}, 0},
		{"too big", false, []conduittest.Trouble{big}, []string{"01234", "56789abc"}, 0},
		{"too big twice", false, []conduittest.Trouble{big, big}, []string{"01", "23456789ab", "c"}, 0},
		{"too big always", false, []conduittest.Trouble{big, big, big, big}, []string{"plain: 0", "123456789a", "bc"}, 0},
		{"too big, malformed", false, []conduittest.Trouble{big, refuse(conduit.Malformed)}, []string{"plain: 01234", "56789abc"}, 0},
		{"unknown, lost", false, []conduittest.Trouble{lost}, []string{repeat + one, two}, 1},
		{"unknown, there", false, []conduittest.Trouble{there}, []string{one, repeat + one, two}, 1},
		{"unknown, late", false, []conduittest.Trouble{failing(true, 9*time.Second)}, []string{one, repeat + one, two}, 1},
		{"unknown twice", false, []conduittest.Trouble{lost, lost}, []string{miss[:10], two}, 1},
		{"unknown, retry", false, []conduittest.Trouble{there, refuse(conduit.Retry)}, []string{one, repeat + one, two}, 1},
		{"note unknown", false, []conduittest.Trouble{lost, lost, there}, []string{miss[:10], repeat + miss[:10], two}, 2},
		{"note unknown twice", false, []conduittest.Trouble{lost, lost, lost, lost}, []string{two}, 2},
		{"looked up, lost", true, []conduittest.Trouble{lost, lost, lost}, []string{one, two}, 0},
		{"looked up, there", true, []conduittest.Trouble{there}, []string{one, two}, 0},
		{"looked up, late", true, []conduittest.Trouble{failing(true, 9*time.Second)}, []string{one, two}, 0},
		{"too big, looked up", true, []conduittest.Trouble{big, there}, []string{"01234", "56789abc"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, c.finds)
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer(one + two))
				b.p.Next(placeA, c.troubles...)
				b.start("one").rest(10 * time.Minute)
				b.p.Wait()
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
				if got := b.figs.get("orebot_repeats_total"); got != c.repeats {
					t.Errorf("%v repeats counted, want %v", got, c.repeats)
				}
			})
		})
	}
}

// panicking is a renderer that can't stand a word.
type panicking struct{ conduittest.Text }

func (r panicking) Part(it conduit.Item, off int, how conduit.Shape) (conduit.Part, error) {
	if strings.HasPrefix(it.Source, "poison") {
		panic("no such rune")
	}
	return r.Text.Part(it, off, how)
}

// TestARendererThatPanics costs one part, and neither the process nor what follows.
func TestARendererThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.cfg.Renderer = panicking{conduittest.Text{Limit: 100}}
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("one"))
		b.must(b.w.Answer("poison"))
		b.must(b.w.Answer("three"))
		b.start("one").rest(time.Minute)
		b.wantTexts(placeA, "one", "Part of my answer may be missing.", "three")
		b.wantServed(placeA)
	})
}

// TestLookUp repeats a look-up until it answers, and goes without one that is refused for good.
func TestLookUp(t *testing.T) {
	busy := &conduit.Error{Class: conduit.Retry, Err: errors.New("busy")}
	for _, c := range []struct {
		name  string
		finds []error
		want  []string
	}{
		{"busy", []error{busy, busy, errors.New("odd"), &conduit.Error{Class: conduit.RetryAfter, After: time.Minute}}, []string{"answer"}},
		{"refused", []error{busy, &conduit.Error{Class: conduit.Malformed}}, []string{"answer", repeat + "answer"}},
		{"gone", []error{&conduit.Error{Class: conduit.Gone}}, []string{"answer", repeat + "answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, true)
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer("answer"))
				b.p.Next(placeA, failing(true, 0))
				b.p.NextFind(placeA, c.finds...)
				b.start("one").rest(10 * time.Minute)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
			})
		})
	}
}

// TestBackOff spaces tries out, up to a minute, and logs one line for the streak.
func TestBackOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("answer"))
		var well atomic.Bool
		b.p.Chance = func(session.Address) conduittest.Trouble {
			if well.Load() {
				return conduittest.Trouble{}
			}
			return refuse(conduit.Retry)
		}
		l := b.start("one")
		time.Sleep(time.Hour)
		if n := b.p.Tries(); n < 60 || n > 130 {
			t.Errorf("%d tries in an hour", n)
		}
		well.Store(true)
		l.rest(time.Minute + time.Second)
		b.wantTexts(placeA, "answer")
		if n := strings.Count(b.log.String(), "level=WARN"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, b.log.String())
		}
	})
}

// TestRetryAfter lets one address wait alone, and everybody once a second one is told within a second.
func TestRetryAfter(t *testing.T) {
	wait := func(d time.Duration) conduittest.Trouble {
		return conduittest.Trouble{Err: &conduit.Error{Class: conduit.RetryAfter, After: d}}
	}
	for _, c := range []struct {
		name   string
		second bool
		want   time.Duration
	}{{"alone", false, 0}, {"two", true, 20 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.must(b.w.Bind(placeA, placeB))
				b.must(b.w.Answer("x"))
				b.p.Next(placeA, wait(20*time.Second))
				if c.second {
					b.p.Next(placeB, wait(20*time.Second))
				}
				start := time.Now()
				l := b.start("one")
				time.Sleep(2 * time.Second)
				other := conduittest.NewWriter(b.store, 2)
				b.must(other.Bind(placeC))
				b.must(other.Answer("y"))
				l.c.Nudge(placeC)
				l.rest(time.Minute)
				if got := b.p.At(placeA)[0].At.Sub(start); got != 20*time.Second {
					t.Errorf("a came after %v", got)
				}
				if got := b.p.At(placeC)[0].At.Sub(start); got != max(c.want, 2*time.Second) {
					t.Errorf("c came after %v", got)
				}
			})
		})
	}
}

// TestDead ends Run and loses nothing: the next life delivers without a label.
func TestDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA, placeB))
		b.must(b.w.Answer("answer"))
		b.p.Next(placeA, refuse(conduit.Dead))
		b.p.Next(placeB, refuse(conduit.Retry))
		l := b.start("one")
		var e *conduit.Error
		if err := <-l.done; !errors.As(err, &e) || e.Class != conduit.Dead {
			t.Fatalf("Run returned %v", err)
		}
		l.c.Nudge(placeA)
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA, "answer")
		b.wantTexts(placeB, "answer")
	})
}

// TestLease posts nothing without the lease.
func TestLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("answer"))
		lease := &lostLease{lost: make(chan struct{})}
		b.cfg.Lease = lease
		l := b.start("one")
		synctest.Wait()
		close(lease.lost)
		if err := <-l.done; !errors.Is(err, conduit.ErrLeaseLost) {
			t.Errorf("Run returned %v", err)
		}
		b.wantTexts(placeA)
		b.cfg.Lease = b.store
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA, "answer")
	})
}

type lostLease struct{ lost chan struct{} }

func (l *lostLease) Acquire(context.Context, string) error { return nil }
func (l *lostLease) Valid() bool                           { return false }
func (l *lostLease) Lost() <-chan struct{}                 { return l.lost }
