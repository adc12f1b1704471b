package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"orebot/conduit"
	"orebot/conduit/slack"
	"orebot/conduit/telegram"
	"orebot/core/access"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/core/slash"
	"orebot/internal/config"
	"orebot/internal/ops"
)

// side is one platform of the daemon: a conduit that goes on delivering when it no longer takes anything in.
type side interface {
	conduit.Conduit
	// Settle waits until nothing is being delivered, or ctx ends.
	Settle(ctx context.Context)
}

// component reports one platform's health.
type component struct {
	name   string
	health *ops.Health
}

func (c component) Beat()                         { c.health.Beat(c.name) }
func (c component) Set(ready bool, reason string) { c.health.Set(c.name, ready, reason) }
func (c component) Note(topic, text string)       { c.health.Note(c.name, topic, text) }

// component makes readiness depend on a platform.
func (d *daemon) component(name string) component {
	d.health.NeedPlatform(name, 0)
	d.metrics.Platform(name)
	return component{name, d.health}
}

// wirePlatforms builds the Manager and the conduits. A new platform is one line here.
func (d *daemon) wirePlatforms(net network) error {
	platforms := map[string]session.Platform{}
	var builders []func() error
	if d.cfg.Slack.On {
		builders = append(builders, d.slack(net, platforms))
	}
	if d.cfg.Telegram.On {
		builders = append(builders, d.telegram(net, platforms))
	}
	d.manager = d.sessions(platforms)
	d.doors.Dismiss = d.manager.Dismiss
	for _, build := range builders {
		if err := build(); err != nil {
			return err
		}
	}
	return nil
}

func (d *daemon) slack(net network, platforms map[string]session.Platform) func() error {
	c := d.cfg.Slack
	t := net.transport()
	api := slack.Dial(slack.Account{
		BotToken: c.BotToken, AppToken: c.AppToken, APIURL: c.APIURL,
		Transport: t, DialContext: t.DialContext, Proxy: net.proxy, TLS: net.tls,
	})
	platforms["slack"] = session.Platform{
		Policy: d.guard("slack", slackPolicy(c)), People: api, Namer: api, Fetcher: api, Historian: api,
		Readers: api, Follow: c.FollowThreads, Presenter: api, Beat: slack.Beat, Prefix: "!",
	}
	return func() error {
		s, err := slack.New(slack.Config{
			API: api, Sessions: d.manager, Store: d.store, Lease: d.store, Life: d.life, Reads: d.manager.Reads, Paced: c.Pace == "auto", Quit: d.quit,
			Command: c.Command, CatchUp: c.CatchUp.D(), MaxParts: d.cfg.Chat.MaxParts,
			Health: d.component("slack"), Counters: d.metrics, Logger: d.env.log,
		})
		d.sides = append(d.sides, s)
		return err
	}
}

// guard lets a policy of the configuration be changed by the operator at run time.
func (d *daemon) guard(platform string, p access.Policy) access.Policy {
	p.Book = d.doors.Book
	d.doors.Policies[platform] = p
	return p
}

func slackPolicy(c config.Slack) access.Policy {
	p := access.Policy{
		Mode: access.Members, Users: prefixed("slack", c.Users), Places: prefixed("slack", c.Channels),
		AnyPlace: len(c.Channels) == 0, Guests: c.AllowGuests, External: c.AllowExternal, Bots: c.AllowBots,
	}
	if c.Access == "allowlist" {
		p.Mode = access.Allowlist
	}
	return p
}

func (d *daemon) telegram(net network, platforms map[string]session.Platform) func() error {
	c := d.cfg.Telegram
	api := telegram.Dial(telegram.Account{Token: c.BotToken, APIURL: c.APIURL, Transport: net.transport()})
	policy := d.guard("telegram", telegramPolicy(c))
	platforms["telegram"] = session.Platform{
		Policy: policy, People: api, Readers: api, Fetcher: api, Presenter: telegram.NewPresence(api), Beat: telegram.Beat, Prefix: "/",
	}
	return func() error {
		s, err := telegram.New(telegram.Config{
			API: api, Sessions: d.manager, Store: d.store, Lease: d.store, Life: d.life, Reads: d.manager.Reads, Paced: c.Pace == "auto",
			Quit: d.quit, Gather: c.Gather.D(), Listed: policy.OpenAt, Revoked: func(place string) bool { return policy.Revoked("", place) },
			MaxParts: d.cfg.Chat.MaxParts, Menu: menu, Bare: offered,
			Named:  func(username string) { d.bot.Store(&username) },
			Health: d.component("telegram"), Counters: d.metrics, Logger: d.env.log,
		})
		d.sides = append(d.sides, s)
		return err
	}
}

// menu is what Telegram shows to who types a slash.
func menu(private bool) []telegram.Command {
	var out []telegram.Command
	for _, e := range slash.Menu(private) {
		out = append(out, telegram.Command{Name: e.Name, Description: e.Line})
	}
	return out
}

// offered: people touch a command of a group's menu without writing the bot's name.
func offered(name string) bool { return slash.Offered(false, name) }

func telegramPolicy(c config.Telegram) access.Policy {
	modes := map[string]access.Mode{"open": access.Open, "pairing": access.Pairing, "allowlist": access.Allowlist}
	return access.Policy{
		Mode: modes[c.Access], Users: numbered("telegram", c.Users), Places: numbered("telegram", c.Groups),
		AnyPlace: c.Access == "open" && len(c.Groups) == 0,
	}
}

func prefixed(platform string, ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = platform + ":" + id
	}
	return out
}

func numbered(platform string, ids []int64) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = platform + ":" + strconv.FormatInt(id, 10)
	}
	return out
}

// startSides runs every conduit until ctx ends. One that ends with an error leaves the others running; when all have, the daemon
// ends.
func (d *daemon) startSides(ctx context.Context, wg *sync.WaitGroup, halt context.CancelCauseFunc) {
	var stopped atomic.Int64
	for _, s := range d.sides {
		wg.Go(func() {
			err := s.Run(ctx)
			if err == nil {
				return
			}
			d.env.log.Error("platform stopped", observe.KeyPlatform, s.Name(), observe.KeyError, err)
			if int(stopped.Add(1)) == len(d.sides) {
				halt(ended(err))
			}
		})
	}
}

// ended tells refused credentials from any other end of the last platform.
func ended(err error) error {
	var ce *conduit.Error
	if errors.As(err, &ce) && ce.Class == conduit.Dead {
		return errRefused
	}
	return fmt.Errorf("the last platform stopped: %w", err)
}
