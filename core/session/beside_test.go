package session_test

import (
	"context"
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
