package main

import (
	"context"
	"sync"
	"syscall"
	"time"

	"orebot/core/observe"
	"orebot/internal/ops"
)

// listen serves health and figures where [http] listen says so.
func (d *daemon) listen(ctx context.Context, wg *sync.WaitGroup) error {
	if d.cfg.HTTP.Listen == "" {
		return nil
	}
	ln, err := ops.Listen(ctx, d.cfg.HTTP.Listen)
	if err != nil {
		return err
	}
	d.env.log.Info("health and metrics", "listen", ln.Addr().String())
	wg.Go(func() {
		if err := ops.Serve(ctx, ln, ops.Handler(d.health, d.metrics, d.env.redactor), d.env.log); err != nil {
			d.env.log.Error("health and metrics end", observe.KeyError, err)
		}
	})
	return nil
}

// background starts what runs beside the conversations until ctx ends. A failed store halts the daemon: its restart decides.
func (d *daemon) background(ctx context.Context, wg *sync.WaitGroup, halt context.CancelCauseFunc) {
	wg.Go(func() {
		select {
		case <-d.store.Failed():
			halt(d.store.Err())
		case <-ctx.Done():
		}
	})
	wg.Go(func() { _ = d.systemd.Watch(ctx, d.health.Live) })
	wg.Go(func() { every(ctx, time.Second, d.tick()) })
	wg.Go(func() { every(ctx, time.Hour, d.sweep(ctx)) })
	wg.Go(func() { d.sweepBlobs(ctx) })
	wg.Go(func() { _ = d.ages.run(ctx) }) // a failed store ends the daemon
	wg.Go(func() { every(ctx, agesEvery, d.look(ctx)) })
	d.runServers(ctx, wg)
	for _, p := range d.probes {
		wg.Go(func() { p.run(ctx) })
	}
}

// every calls f at once and then after each period, until ctx ends.
func every(ctx context.Context, period time.Duration, f func()) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// tick is the heartbeat: the daemon is alive while its store takes work, and systemd is told when its state changes.
func (d *daemon) tick() func() {
	var said string
	var before uint64
	return func() {
		s := d.store.Stats()
		if s.QueueLen == 0 || s.Batches != before {
			d.health.Tick()
		}
		before = s.Batches
		if now := d.health.Summary(); now != said {
			said = now
			d.notify(d.systemd.Status(now))
			d.env.log.Info("readiness", observe.KeyState, now)
		}
	}
}

// sweep forgets ended messages whose time is over.
func (d *daemon) sweep(ctx context.Context) func() {
	return func() {
		n, err := d.store.Sweep(ctx, time.Now())
		if err != nil && ctx.Err() == nil {
			d.env.log.Error("old entries stay", observe.KeyError, err)
		} else if n > 0 {
			d.env.log.Debug("old entries forgotten", observe.KeyCount, n)
		}
		if err := d.doors.Tidy(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.env.log.Error("old refusals stay", observe.KeyError, err)
		}
	}
}

// agesEvery is how old the figures about what waits may be.
const agesEvery = 5 * time.Second

// look sets the figures about what waits. What can't be read keeps its last one.
func (d *daemon) look(ctx context.Context) func() {
	return func() {
		if age, err := d.ages.entry(ctx); err == nil {
			d.metrics.Set(observe.EntryOldest, age.Seconds())
		}
		for _, s := range d.sides {
			if age, err := d.ages.delivery(ctx, s.Name()); err == nil {
				d.metrics.Set(observe.DeliveryOldest, age.Seconds(), s.Name())
			}
		}
	}
}

// freeBytes is the room on the file system of dir.
func freeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}
