package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/observe"
)

// Limits of a watch.
const (
	maxSilences = 3           // pings in a row without an answer, while calls run
	listPause   = time.Second // before the tools are listed again; it doubles while a server goes on saying that they have changed
	maxPause    = time.Minute
)

// watch is the time that a session lasts.
type watch struct {
	*Server
	session  *mcp.ClientSession
	silences int           // pings in a row without an answer
	pause    time.Duration // before the next listing
	last     time.Time     // a listing; zero: none but the first
}

// stay lists the tools when they change, and gives up a server that doesn't answer any more. It returns why the session is over.
func (w *watch) stay(ctx context.Context, changed <-chan struct{}) error {
	gone := make(chan struct{})
	go func() {
		_ = w.session.Wait()
		close(gone)
	}()
	ping := time.NewTicker(w.cfg.PingEvery)
	defer ping.Stop()
	var due <-chan time.Time // a listing
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gone:
			return errors.New("mcp: the connection ended")
		case <-ping.C:
			err = w.alive(ctx)
		case <-changed:
			if due == nil {
				due = time.After(w.wait())
			}
		case <-due:
			due = nil
			err = w.relist(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// wait is the pause before the next listing, in which further changes are covered.
func (w *watch) wait() time.Duration {
	if time.Since(w.last) > maxPause {
		w.pause = listPause
	}
	return w.pause
}

// relist lists the tools again.
func (w *watch) relist(ctx context.Context) error {
	news, err := w.list(ctx, w.session)
	if err == nil && news {
		w.log.Info("mcp server has other tools", observe.KeyCount, w.offered)
	}
	w.last, w.pause = time.Now(), min(2*w.pause, maxPause)
	return err
}

// alive asks for a sign of life. A server that doesn't know the question has given one. Many servers do one thing at a time and hear nothing
// while a call runs: then several questions may stay without an answer, for longer than a call may take.
func (w *watch) alive(ctx context.Context) error {
	_, err := within(ctx, w.cfg.PingTime, func(ctx context.Context) (any, error) { return nil, w.session.Ping(ctx, nil) })
	if _, ok := answered(err); err == nil || ok {
		w.silences = 0
		return nil
	}
	if w.silences++; errors.Is(err, context.DeadlineExceeded) && w.calls.Load() > 0 && w.silences <= maxSilences {
		return nil
	}
	return fmt.Errorf("mcp: ping: %w", err)
}
