package conduit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

func TestSettleWaitsForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		defer store.Close()
		platform := &conduittest.Platform{}
		const a = session.Address("chat:1")
		platform.Next(a, conduittest.Trouble{Hang: 3 * time.Second})
		c, err := conduit.New(conduit.Config{
			Name: "chat", Store: store, Lease: store, Renderer: conduittest.Text{Limit: 100}, Poster: platform, Life: "1",
		})
		if err != nil {
			t.Fatal(err)
		}
		w := conduittest.NewWriter(store, 1)
		if err := w.Bind(a); err != nil {
			t.Fatal(err)
		}
		if err := w.Answer("hello"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		c.Settle(t.Context()) // nobody works before Run
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		short, cancel := context.WithTimeout(ctx, time.Second)
		c.Settle(short)
		cancel()
		if d := time.Since(start); d != time.Second {
			t.Errorf("a hanging post, and Settle returned after %v", d)
		}
		c.Settle(ctx)
		if d := time.Since(start); d < 3*time.Second || d > 3*time.Second+20*time.Millisecond {
			t.Errorf("the post took 3 s, and Settle %v", d)
		}
		if got := platform.Texts(a); len(got) != 1 {
			t.Errorf("shown: %q", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
