package conduit

import (
	"context"
	"time"
)

// Backoff is how long to wait between tries: Min, then twice as long each time up to Max, less up to half of it at random.
type Backoff struct{ Min, Max time.Duration }

// delay returns the wait after n failures in a row (n ≥ 1); r in [0, 1) chooses within it.
func (b Backoff) delay(n int, r float64) time.Duration {
	d := b.Min
	for ; n > 1 && d < b.Max; n-- {
		d *= 2
	}
	d = min(d, b.Max)
	return max(b.Min, d-time.Duration(r*float64(d)/2))
}

// tries counts failures in a row.
type tries struct {
	b    Backoff
	rand func() float64
	n    int
}

func (t *tries) reset() { t.n = 0 }

// next returns how long to wait after one more failure.
func (t *tries) next() time.Duration {
	t.n++
	return t.b.delay(t.n, t.rand())
}

// Sleep waits for d or for ctx's end, whose error it returns.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
