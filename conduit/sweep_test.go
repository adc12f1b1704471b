package conduit_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// crowd counts the posts that are under way.
type crowd struct {
	*conduittest.Platform
	now, most atomic.Int64
}

func (c *crowd) Post(ctx context.Context, a session.Address, it conduit.Item, p conduit.Part) ([]string, error) {
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
		continue
	}
	defer c.now.Add(-1)
	return c.Platform.Post(ctx, a, it, p)
}

func many(n int) []session.Address {
	out := make([]session.Address, n)
	for i := range out {
		out[i] = session.Address(fmt.Sprintf("mem:%05d", i))
	}
	return out
}

// TestABacklogIsServedByAFew starts with thousands of due addresses: a few hundred couriers at a time deliver to them.
func TestABacklogIsServedByAFew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		c := &crowd{Platform: b.p}
		b.cfg.Poster = c
		b.p.Chance = func(session.Address) conduittest.Trouble { return conduittest.Trouble{Hang: time.Second} }
		b.deliverTo(many(2000)...)
		b.start("one").rest(time.Minute)
		if n := b.p.Tries(); n != 2000 {
			t.Errorf("%d posts", n)
		}
		if most := c.most.Load(); most > 600 {
			t.Errorf("%d couriers at a time", most)
		}
	})
}

// TestTheBlockedHoldNobodyUp lets the first thousand of a backlog fail, wait or hang for an hour.
func TestTheBlockedHoldNobodyUp(t *testing.T) {
	for name, trouble := range map[string]conduittest.Trouble{
		"hang": {Hang: time.Hour}, "retry": refuse(conduit.Retry), "told": {Err: &conduit.Error{Class: conduit.RetryAfter, After: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.cfg.Place = func(a session.Address) string { return string(a[:6]) } // the first thousand are one chat's
				as := many(1100)
				b.p.Chance = func(a session.Address) conduittest.Trouble {
					if a < as[1000] {
						return trouble
					}
					return conduittest.Trouble{}
				}
				b.deliverTo(as...)
				start := time.Now()
				l := b.start("one")
				time.Sleep(2 * time.Minute)
				for _, a := range as[1000:] {
					if d := b.after(a, start); d > 50*time.Second {
						t.Fatalf("%s was served after %v", a, d)
					}
				}
				b.must(l.stop())
			})
		})
	}
}
