package conduit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/session"
)

// TestPacer keeps the rate of each place, and the platform's over all of them.
func TestPacer(t *testing.T) {
	byPlace := func(r conduit.Rate) func(session.Address) (string, conduit.Rate) {
		return func(a session.Address) (string, conduit.Rate) { return a.Place()[:1], r }
	}
	for _, c := range []struct {
		name   string
		global conduit.Rate
		place  conduit.Rate
		to     []session.Address
		want   time.Duration
	}{
		{"one place", conduit.Rate{}, conduit.Rate{Limit: 1, Burst: 1}, []session.Address{"m:a", "m:a", "m:a"}, 2 * time.Second},
		{"shared key", conduit.Rate{}, conduit.Rate{Limit: 1, Burst: 1}, []session.Address{"m:a/1", "m:a/2"}, time.Second},
		{"two places", conduit.Rate{}, conduit.Rate{Limit: 1, Burst: 1}, []session.Address{"m:a", "m:b"}, 0},
		{"burst", conduit.Rate{}, conduit.Rate{Limit: 1, Burst: 3}, []session.Address{"m:a", "m:a", "m:a", "m:a"}, time.Second},
		{"global", conduit.Rate{Limit: 1, Burst: 1}, conduit.Rate{}, []session.Address{"m:a", "m:b", "m:c"}, 2 * time.Second},
		{"no limit", conduit.Rate{}, conduit.Rate{}, []session.Address{"m:a", "m:a", "m:a"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := conduit.NewPacer(c.global, byPlace(c.place))
				start := time.Now()
				var wg sync.WaitGroup
				for _, a := range c.to {
					wg.Go(func() {
						if err := p.Wait(t.Context(), a); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if d := time.Since(start); d != c.want {
					t.Errorf("took %v, want %v", d, c.want)
				}
			})
		})
	}
}

// TestPacerCancel gives up with ctx, and keeps nothing of idle places.
func TestPacerCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := conduit.NewPacer(conduit.Rate{}, func(a session.Address) (string, conduit.Rate) {
			return string(a), conduit.Rate{Limit: 0.001, Burst: 1}
		})
		if err := p.Wait(t.Context(), "m:a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := p.Wait(ctx, "m:a"); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait returned %v", err)
		}
	})
}

// TestPacerForgets keeps a bounded number of keys however many are used one after the other.
func TestPacerForgets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := conduit.NewPacer(conduit.Rate{}, func(a session.Address) (string, conduit.Rate) {
			return string(a), conduit.Rate{Limit: 1, Burst: 1}
		})
		for i := range 10_000 {
			if err := p.Wait(t.Context(), session.Address(fmt.Sprint("m:", i))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := p.Keys(); n > 128 {
			t.Errorf("%d keys are kept", n)
		}
	})
}

// What nobody waits for gives way to posts: it gets a permission only where none waits for one and the next one needn't.
func TestWhatNobodyWaitsForGivesWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := conduit.NewPacer(conduit.Rate{Limit: 10, Burst: 10}, func(a session.Address) (string, conduit.Rate) {
			return string(a), conduit.Rate{Limit: 1, Burst: 2}
		})
		if p.Busy(placeA) || !p.Take(placeA) || p.Busy(placeA) || !p.Take(placeA) {
			t.Error("what is free is refused")
		}
		if !p.Busy(placeA) || p.Take(placeA) || p.Busy(placeB) {
			t.Error("an empty bucket gives something")
		}
		go func() { _ = p.Wait(t.Context(), placeA) }()
		synctest.Wait()
		if !p.Busy(placeB) || p.Take(placeB) {
			t.Error("a post that waits is passed")
		}
		time.Sleep(3 * time.Second)
		if p.Busy(placeA) || p.Busy(placeB) {
			t.Error("a full bucket is busy")
		}
	})
	if unlimited := conduit.NewPacer(conduit.Rate{}, func(a session.Address) (string, conduit.Rate) { return "", conduit.Rate{} }); unlimited.Busy(placeA) {
		t.Error("no limit is busy")
	}
}
