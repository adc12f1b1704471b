package telegram

import (
	"context"
	"time"
)

// backoff is how long to wait between tries: min, then twice as long each time, up to max.
type backoff struct {
	min, max time.Duration
	last     time.Duration
}

func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, b.min), b.max)
	return b.last
}

func (b *backoff) reset() { b.last = 0 }

// sleep waits for d or for ctx's end, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
