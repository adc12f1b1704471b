package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilTold returns a context that ends with SIGTERM, SIGINT, or SIGHUP, which says that the terminal is gone. A process that was
// started to outlive its terminal, as nohup(1) does it, goes on ignoring SIGHUP.
func untilTold(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}
