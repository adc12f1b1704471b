package telegram

import "time"

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
