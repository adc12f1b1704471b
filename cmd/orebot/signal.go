package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
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

// echo is how long another signal counts as the first one come twice: timeout(1), for one, signals a process and then its group.
const echo = time.Second

// hurry lets the next signal after the first end the process at once.
func hurry(told context.Context, stop context.CancelFunc) {
	context.AfterFunc(told, func() { time.AfterFunc(echo, stop) })
}
