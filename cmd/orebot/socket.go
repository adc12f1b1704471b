package main

import (
	"context"
	"sync"

	"orebot/core/observe"
	"orebot/internal/ops"
)

// admit serves the admin socket. A daemon that can't make one goes on: people are answered all the same.
func (d *daemon) admit(ctx context.Context, wg *sync.WaitGroup) {
	if d.env.socket == "" {
		return
	}
	s, err := ops.ListenSocket(ctx, d.env.socket)
	if err != nil {
		d.env.log.Error("no admin socket", observe.KeyError, err)
		return
	}
	d.env.log.Info("admin socket", "listen", s.Path())
	mux := ops.Handler(d.health, d.metrics, d.env.redactor)
	d.admin().Register(mux)
	wg.Go(func() {
		if err := ops.Serve(ctx, s, mux, d.env.log); err != nil {
			d.env.log.Error("admin socket ends", observe.KeyError, err)
		}
	})
}

// admin is what the socket offers.
func (d *daemon) admin() *ops.Admin {
	q := &ops.Queue{Store: d.store, Manager: d.manager, NotReady: d.health.NotReady, Counters: d.metrics}
	for _, s := range d.sides {
		q.Conduits = append(q.Conduits, s.Name())
	}
	return &ops.Admin{Access: &ops.Access{Doors: d.doors}, Queue: q, Health: d.health, Redactor: d.env.redactor, Logger: d.env.log}
}
