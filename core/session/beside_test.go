package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// A command that ends while a turn gets ready changes what is known of the thread. The turn doesn't look at that from its own goroutine:
// the race detector tells.
func TestATurnThatGetsReadySharesNothingWithCommands(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		slowly := func(context.Context, string) int { time.Sleep(2 * time.Second); return 8192 }
		look := func(context.Context, string) (bool, []string, error) { time.Sleep(time.Second); return true, nil, nil }
		b := start(t, mem, says("ok"), commanded(mem), fetching(files{"a.png": png}), func(c *session.Config) { c.ContextOf, c.Vision = slowly, look })
		in := msg(dm, "slack:U1", "hi", attaching("a.png"))
		b.accept(in)
		for range 8 {
			time.Sleep(500 * time.Millisecond)
			b.accept(msg(dm, "slack:U1", "/help"))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.stopLife()
	})
}

// silent is a platform that tells nothing of anybody.
type silent struct{}

func (silent) Person(ctx context.Context, _ session.Address, who session.Author) (session.Author, error) {
	<-ctx.Done()
	return who, ctx.Err()
}

// A stop reaches a message while the platform is asked who wrote it.
func TestAStopReachesALookUp(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem), side(func(p *session.Platform) { p.People = silent{} }))
		in := msg(dm, "slack:U1", "hi", func(in *session.Inbound) { in.Author.Known = false })
		b.accept(in)
		time.Sleep(time.Second)
		stop := msg(dm, "slack:U1", "/stop")
		b.accept(stop)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		b.ended(in, session.EndWithdrawn)
		b.ended(stop, session.EndNoticed)
		b.stopLife()
	})
}

// A stop withdraws what waits, however much that is.
func TestAStopWithdrawsMoreThanOneBatchHolds(t *testing.T) {
	const n = 1100
	for _, rest := range []bool{false, true} { // nothing, or an answer, is in progress
		t.Run(fmt.Sprint(rest), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := halfway()
				b := start(t, mem, p, commanded(mem))
				b.accept(msg(dm, "slack:U1", "essay"))
				time.Sleep(time.Second)
				var waiting []session.Inbound
				for range n {
					in := msg(dm, "slack:U1", "and this")
					b.accept(in)
					waiting = append(waiting, in)
				}
				stop := msg(dm, "slack:U1", "/stop")
				if rest {
					b.stopLife() // what is stopped is resumed, and at once cancelled
					quiet := session.New(config(mem, p))
					quiet.Accept(context.Background(), stop, func(session.Receipt) {})
					synctest.Wait()
					b = start(t, mem, p, commanded(mem))
				} else {
					b.accept(stop)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(stop, session.EndNoticed)
				for _, in := range waiting {
					b.ended(in, session.EndWithdrawn)
				}
				if log := b.log(dm); !strings.Contains(log[len(log)-1], fmt.Sprint(n)) {
					t.Errorf("told: %s", log[len(log)-1])
				}
				b.stopLife()
			})
		})
	}
}
