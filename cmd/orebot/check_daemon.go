package main

import (
	"context"

	"orebot/internal/ops"
)

// daemon asks the daemon that answers at one of these sockets, if any does, for what only a running one can know: whether connections
// stand, whether another process shares its events, what a platform refused.
func (r *report) daemon(ctx context.Context, sockets []string) {
	ctx, cancel := context.WithTimeout(ctx, platformTime)
	defer cancel()
	c, err := ops.Connect(ctx, sockets)
	if err != nil {
		return // none runs
	}
	var is ops.Readiness
	if err := c.Call(ctx, "/v1/health", nil, &is); err != nil {
		r.fail("daemon: %v", err)
		return
	}
	if is.Ready && len(is.Notes) == 0 {
		r.good("daemon: it runs, and is ready")
	}
	for _, why := range is.Reasons {
		r.fail("daemon: %s: %s", why.Component, why.Reason)
	}
	for _, n := range is.Notes {
		r.fail("daemon: %s: %s", n.Component, n.Text)
	}
}
