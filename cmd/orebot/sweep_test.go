package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Files are looked for ten minutes after the start and then daily; when conversations are deleted, a moment later, however many there are,
// and after the time that files are kept. A look that takes long is rare.
func TestWhenFilesAreSwept(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		left []time.Duration // when conversations are deleted
		want string
	}{
		{0, nil, "10m0s 24h10m0s 48h10m0s"},
		{0, times(time.Minute, 1, 0), "1m5s 1h2m5s 25h2m5s 49h2m5s"},
		{0, times(2*time.Minute, 30, 700*time.Millisecond), "2m5s 2m10.6s 2m16.2s 2m21.8s 1h3m21.8s 25h3m21.8s 49h3m21.8s"},
		{time.Second, times(2*time.Minute, 30, 10*time.Second), "2m5s 3m46s 5m27s 7m8s 1h8m9s 25h8m10s 49h8m11s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			left, done, begin := make(chan struct{}, 1), make(chan struct{}), time.Now()
			var swept []string
			go func() {
				defer close(done)
				sweepWhere(ctx, left, func() { swept = append(swept, time.Since(begin).String()); time.Sleep(c.took) })
			}()
			for _, at := range append(c.left, 50*time.Hour) {
				time.Sleep(time.Until(begin.Add(at)))
				select {
				case left <- struct{}{}:
				default:
				}
			}
			cancel()
			<-done
			if got := strings.Join(swept, " "); got != c.want {
				t.Errorf("%d deleted, %s each: swept at %s, want %s", len(c.left), c.took, got, c.want)
			}
		})
	}
}

// times are n points in time.
func times(first time.Duration, n int, between time.Duration) (out []time.Duration) {
	for i := range n {
		out = append(out, first+time.Duration(i)*between)
	}
	return out
}
