package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// slow answers each call after ten seconds, and takes down for whom it was.
type slow struct {
	mu    sync.Mutex
	slots int
	now   int
	most  int
	order []string
}

func (s *slow) Slots() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots
}

func (s *slow) Invoke(ctx context.Context, _ ledger.State, spec models.Spec, _ chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	s.mu.Lock()
	s.order = append(s.order, spec.Model)
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
	}()
	return sleep(ctx, 10*time.Second)
}

// crowd lets people call, in the order given, a millisecond apart: "a1" is the first call of a.
func crowd(ctx context.Context, g *gate, wg *sync.WaitGroup, calls ...string) {
	for _, c := range calls {
		wg.Go(func() {
			_ = g.Invoke(withCaller(ctx, c[:1]), nil, models.Spec{Model: c}, nil)
		})
		time.Sleep(time.Millisecond)
	}
}

// Reports 65 and 75: nobody is dropped, people take turns however many calls one of them has waiting, and each person's calls keep their order.
func TestPeopleTakeTurns(t *testing.T) {
	for n, want := range map[int]string{
		1: "a1 b1 c1 a2 b2 a3 a4 a5 a6",
		2: "a1 a2 b1 c1 a3 b2 a4 a5 a6",
		3: "a1 a2 a3 b1 c1 a4 b2 a5 a6",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, wg := &slow{slots: n}, &sync.WaitGroup{}
				g := newGate(p, 99)
				crowd(t.Context(), g, wg, "a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "c1")
				wg.Wait()
				if got := strings.Join(p.order, " "); got != want || p.most != n {
					t.Errorf("%s, %d at once; want %s, %d at once", got, p.most, want, n)
				}
				if g.busy != 0 || len(g.line)+len(g.running) != 0 || len(g.rounds) > 3 {
					t.Errorf("left behind: %+v", g)
				}
			})
		})
	}
}

// Somebody who comes again and again, one call at a time, doesn't pass those who wait.
func TestNobodyIsPassedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, wg := &slow{slots: 1}, &sync.WaitGroup{}
		g := newGate(p, 1)
		for _, who := range []string{"x", "y"} {
			wg.Go(func() {
				for i := range 9 {
					_ = g.Invoke(withCaller(t.Context(), who), nil, models.Spec{Model: fmt.Sprint(who, i)}, nil)
				}
			})
		}
		time.Sleep(time.Second)
		crowd(t.Context(), g, wg, "a1", "a2", "a3")
		wg.Wait()
		order := strings.Join(p.order, " ")
		if i := strings.Index(order, "a3"); i > 3*9 {
			t.Errorf("a waited too long: %s", order)
		}
	})
}

// Report 66: who gives up leaves the line at once and takes nobody's place; a limit that falls is kept to, one that rises is used.
func TestGivingUpAndLimitsThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, wg := &slow{slots: 2}, &sync.WaitGroup{}
		g := newGate(p, 1)
		ctx, cancel := context.WithCancel(t.Context())
		crowd(t.Context(), g, wg, "a1", "b1")
		crowd(ctx, g, wg, "c1", "c2")
		crowd(t.Context(), g, wg, "d1", "e1", "f1")
		cancel()
		synctest.Wait()
		if len(g.line) != 3 {
			t.Errorf("%d wait behind those who gave up", len(g.line))
		}
		p.mu.Lock()
		p.slots = 1
		p.mu.Unlock()
		time.Sleep(15 * time.Second)
		p.mu.Lock()
		if p.now != 1 {
			t.Errorf("%d calls with one slot", p.now)
		}
		p.slots = 5
		p.mu.Unlock()
		wg.Wait()
		if got := strings.Join(p.order, " "); !strings.HasPrefix(got, "a1 b1 d1 ") || len(got) != 14 {
			t.Error(got)
		}
	})
}

// Who is let in at the very moment in which they give up leaves their place to others.
func TestGivingUpWhenLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(&slow{}, 1)
		for range 50 { // which of the two is seen first is a matter of luck
			if err := g.enter(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- g.enter(ctx, "b") }()
			synctest.Wait()
			cancel()
			g.leave("a")
			if <-done == nil {
				g.leave("b")
			}
			if g.busy != 0 || len(g.line)+len(g.running) != 0 {
				t.Fatalf("left behind: %+v", g)
			}
		}
	})
}

// Who waits is told their place once, however long it takes, and when they go on.
func TestAPlaceInLineIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, wg := &slow{slots: 1}, &sync.WaitGroup{}
		g := newGate(p, 1)
		crowd(t.Context(), g, wg, "a1", "b1", "c1")
		var told []int
		crowd(withPlace(t.Context(), func(n int) { told = append(told, n) }), g, wg, "d1")
		wg.Wait()
		if fmt.Sprint(told) != "[2 -1]" {
			t.Errorf("told %v", told)
		}
	})
}

func TestAMissingModelIsSaidWithWhatIsThere(t *testing.T) {
	for want, here := range map[string][]string{
		"`m` isn't installed. Operator: `ollama pull m`.":   nil,
		"`m` isn't installed. Here: mm, other. `!model mm`": {"mm", "other"},
	} {
		if got := missing("m", here, "!"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// lingering answers each call after ten seconds, and lets go of one that has ended a second later.
type lingering struct{}

func (lingering) Invoke(ctx context.Context, _ ledger.State, _ models.Spec, _ chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	err := sleep(ctx, 10*time.Second)
	if err != nil {
		time.Sleep(time.Second)
	}
	return err
}

// As many calls that nobody waits for give way as others need their places.
func TestSpareCallsGiveWayToEveryoneWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(lingering{}, 2)
		var wg sync.WaitGroup
		gaveWay := make([]error, 2)
		for i := range gaveWay {
			wg.Go(func() { gaveWay[i] = spare{g}.Invoke(t.Context(), nil, models.Spec{Model: "spare"}, nil) })
		}
		time.Sleep(time.Second)
		begin := time.Now()
		crowd(t.Context(), g, &wg, "a1", "b1")
		wg.Wait()
		if d := time.Since(begin); d > 12*time.Second {
			t.Errorf("two calls of 10 s took %v beside two that give way", d)
		}
		for _, err := range gaveWay {
			if err != errNoSpare {
				t.Errorf("a spare call ended with %v", err)
			}
		}
	})
}

// How long a group is waited for is measured by a clock that nobody sets.
func TestAGroupSettlesByTheProcessesOwnClock(t *testing.T) {
	now := time.Now()
	for _, c := range []struct{ age, want time.Duration }{
		{0, 3 * time.Second}, {time.Second, 2 * time.Second}, {3 * time.Second, 3 * time.Second}, {time.Hour, 3 * time.Second},
		{-time.Hour, 3 * time.Second},
	} {
		until := settledAt(now, Inbound{At: now.Add(-c.age).Round(0), SettleFor: 3 * time.Second})
		if d := until.Sub(now); d != c.want || !strings.Contains(until.String(), " m=") {
			t.Errorf("%v old: until %v (%v), want %v on", c.age, until, d, c.want)
		}
	}
}
