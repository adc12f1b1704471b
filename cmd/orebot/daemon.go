package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"orebot/core/access"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/core/tool"
	"orebot/core/transform/attribution"
	"orebot/core/transform/budget"
	"orebot/internal/config"
	"orebot/internal/ops"
	"orebot/internal/secret"
	"orebot/provider/ollama"
	"orebot/store/blob"
	"orebot/store/bolt"
	"orebot/tool/mcp"
)

// environment is what a daemon is given beside its configuration.
type environment struct {
	log      *slog.Logger
	redactor *secret.Redactor
	socket   string // where the admin socket is made; empty: nowhere
}

// daemon is a wired one.
type daemon struct {
	cfg     *config.Config
	env     environment
	life    string
	store   *bolt.Store
	blobs   *blob.Store
	left    chan struct{} // a conversation is deleted: its files may be left
	model   *ollama.Provider
	tools   *tool.Registry
	servers []*mcp.Server
	manager *session.Manager
	health  *ops.Health
	metrics *ops.Metrics
	systemd *ops.Systemd
	sides   []side
	quit    chan struct{} // closed when nothing more is to be taken in
	probes  []probe
	ages    *ages
	doors   *session.Doors
	bot     atomic.Pointer[string] // its username on Telegram, once known
}

// serve runs a daemon until ctx ends, the store fails, or every platform refuses the credentials.
func serve(ctx context.Context, cfg *config.Config, env environment) error {
	d := &daemon{cfg: cfg, env: env, life: session.NewBatchID().String(), quit: make(chan struct{}), left: make(chan struct{}, 1)}
	if err := d.wire(); err != nil {
		return err
	}
	err := d.run(ctx)
	return errors.Join(err, d.store.Close())
}

// wire builds everything; nothing runs or connects yet.
func (d *daemon) wire() (err error) {
	d.health = ops.NewHealth(time.Now, 30*time.Second)
	d.metrics = ops.NewMetrics()
	if d.systemd, err = ops.NewSystemd(d.env.redactor); err != nil {
		return err
	}
	net, err := newNetwork(d.cfg.Net)
	if err != nil {
		return usageError{err}
	}
	d.store, err = bolt.Open(filepath.Join(d.cfg.StateDir, "orebot.db"), bolt.Options{
		Logger:   d.env.log,
		OnCommit: func(took time.Duration, _ int) { d.metrics.Observe(observe.StoreCommit, took.Seconds()) },
	})
	if err != nil {
		return err
	}
	if err := d.wireRest(net); err != nil {
		return errors.Join(err, d.store.Close())
	}
	d.metrics.BeforeScrape(d.gauges)
	return nil
}

// wireRest builds what needs the state, whose lock is held.
func (d *daemon) wireRest(net network) (err error) {
	d.ages = newAges(d.store, time.Now)
	d.doors = &session.Doors{
		Store: d.store, Book: access.NewBook(), Policies: map[string]access.Policy{}, Counters: d.metrics,
	}
	if err := d.doors.Load(context.Background()); err != nil {
		return err
	}
	if d.blobs, err = blob.Open(filepath.Join(d.cfg.StateDir, "blobs")); err != nil {
		return err
	}
	if err := d.wireModel(net); err != nil {
		return usageError{err}
	}
	if err := d.wireTools(net); err != nil {
		return usageError{err}
	}
	return d.wirePlatforms(net)
}

// gauges are computed when somebody looks.
func (d *daemon) gauges() {
	d.metrics.Set(observe.LiveThreads, float64(d.manager.Live()))
	if free, err := freeBytes(d.cfg.StateDir); err == nil {
		d.metrics.Set(observe.StoreFree, float64(free))
	}
}

// wireModel builds the provider, and a probe for each host.
func (d *daemon) wireModel(net network) (err error) {
	o := d.cfg.Ollama
	conf := func(hosts ...string) ollama.Config {
		t := net.transport()
		t.DisableCompression = true // a proxy that compresses holds the stream back
		return ollama.Config{
			Hosts: hosts, MaxConcurrent: o.MaxConcurrent, APIKey: o.APIKey, KeepAlive: o.KeepAlive.D(), NumCtx: o.NumCtx, Options: o.Options,
			FirstTokenTimeout: o.FirstTokenTimeout.D(), IdleTimeout: o.IdleTimeout.D(), Transport: t, Logger: d.env.log, Blobs: d.blobs,
		}
	}
	if d.model, err = ollama.New(conf(o.Hosts...)); err != nil {
		return err
	}
	for _, host := range o.Hosts {
		p, err := ollama.New(conf(host))
		if err != nil {
			return err
		}
		name := d.env.redactor.Redact(host)
		d.health.NeedModel(name)
		d.probes = append(d.probes, probe{
			host: name, model: o.Model, server: p, health: d.health, log: d.env.log, doubt: make(chan struct{}, 1),
		})
	}
	return nil
}

// sessions builds the Manager for these platforms.
func (d *daemon) sessions(platforms map[string]session.Platform) *session.Manager {
	c := d.cfg
	cfg := session.Config{
		Store: d.store, Provider: doubting{d.model, d.probes}, Platforms: platforms, Life: d.life,
		Spec:          models.Spec{Model: c.Ollama.Model, NumCtx: c.Ollama.NumCtx, Think: c.Ollama.Think},
		Transform:     transforms(c),
		Commander:     d.commands(),
		Admins:        c.Access.Admins,
		SlowNotice:    c.Chat.SlowNotice.D(),
		MaxConcurrent: c.Ollama.MaxConcurrent,
		RetryFor:      c.Ollama.RetryFor.D(),
		MaxAge:        c.Chat.MaxAge.D(),
		ShutdownGrace: c.ShutdownGrace.D(),
		IdleEvict:     c.Session.IdleEvict.D(),
		KeepEntries:   max(24*time.Hour, c.Slack.CatchUp.D()),
		Retention:     c.Session.Retention.D(),
		Erased:        d.filesLeft,
		OneByOne:      c.Chat.Queue == "fifo",
		WindowBytes:   windowBytes(c),
		CompactAt:     c.Chat.CompactAt,
		ShowReasoning: c.Chat.ShowReasoning,
		ContextOf:     contextOf(d.model),
		Blobs:         d.blobs,
		Vision:        d.model.Vision,

		MaxAttachmentBytes: int64(c.Limits.MaxAttachmentBytes),
		Limits: session.Limits{
			PerMinute: c.Limits.UserPerMinute, Waiting: c.Limits.UserWaiting,
			TokensPerDay: c.Limits.UserTokensPerDay, InputBytes: c.Limits.MaxInputBytes,
		},

		Logger:   d.env.log,
		Counters: d.metrics,
	}
	d.useTools(&cfg)
	return session.New(cfg)
}

// transforms shape the prompt: who wrote what, the system prompt in front, and then what fits the window.
func transforms(c *config.Config) []loop.Transform {
	return []loop.Transform{attribution.Speakers{}, instructions(c.Chat.SystemPrompt), budget.Budget{}}
}

// windowBytes is what a live thread keeps of its turns: twice what a prompt can hold.
func windowBytes(c *config.Config) int {
	return max(64<<10, 2*c.Ollama.NumCtx*budget.BytesPerToken)
}

// run starts everything, and stops it in order: the intake, the turns in flight, the deliveries, the rest.
func (d *daemon) run(ctx context.Context) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	rest, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var background, sides sync.WaitGroup
	if err := d.listen(rest, &background); err != nil {
		return err
	}
	d.admit(rest, &background)
	d.notify(d.systemd.Ready("starting")) // before anybody can tell more
	d.background(rest, &background, halt)
	d.startSides(rest, &sides, halt)
	background.Go(func() {
		<-ctx.Done()
		d.stopIntake()
	})
	d.env.log.Info("orebot runs", "version", version(), observe.KeyModel, d.cfg.Ollama.Model)
	err := d.manager.Run(ctx)
	halt(err)
	d.settle()
	end()
	sides.Wait()
	background.Wait()
	d.env.log.Info("orebot stops")
	return d.outcome(ctx)
}

// stopIntake takes nothing in any more, and says so.
func (d *daemon) stopIntake() {
	d.health.Set("daemon", false, "it stops, and takes nothing in any more")
	close(d.quit)
	d.notify(d.systemd.Stopping("finishing"))
}

// outcome is the reason for which the daemon ended; an ordinary stop is none.
func (d *daemon) outcome(ctx context.Context) error {
	if err := d.store.Err(); err != nil {
		return fmt.Errorf("the state database can't be written; what was accepted is safe, and the next start goes on: %w", err)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// deliveryGrace is how long deliveries that are under way may go on when everything else has stopped.
const deliveryGrace = 3 * time.Second

// settle lets the couriers post what is due.
func (d *daemon) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), deliveryGrace)
	defer cancel()
	for _, s := range d.sides {
		s.Settle(ctx)
	}
}

func (d *daemon) notify(err error) {
	if err != nil {
		d.env.log.Warn("systemd doesn't listen", observe.KeyError, err)
	}
}
