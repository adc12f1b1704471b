package main

import (
	"context"
	"strings"
	"time"

	"orebot/conduit/slack"
	"orebot/internal/config"
)

const (
	platformTime = 20 * time.Second // for a platform's answer
	clockSlack   = 30 * time.Second // how far this machine's clock may be from a platform's
)

// platforms asks each platform that is on, for at most platformTime.
func (r *report) platforms(ctx context.Context, cfg *config.Config) {
	net, err := newNetwork(cfg.Net)
	if err != nil {
		r.fail("%v", err)
		return
	}
	for _, p := range []struct {
		on  bool
		ask func(context.Context, network, *config.Config)
	}{{cfg.Slack.On, r.slack}, {cfg.Telegram.On, r.telegram}} {
		if p.on {
			ctx, cancel := context.WithTimeout(ctx, platformTime)
			p.ask(ctx, net, cfg)
			cancel()
		}
	}
}

// slack asks Slack who the bot is, what it may do, and whether it may connect. No connection for events is opened: that would take some of
// them from a daemon that runs.
func (r *report) slack(ctx context.Context, net network, cfg *config.Config) {
	c := cfg.Slack
	api := slack.Dial(slack.Account{BotToken: c.BotToken, AppToken: c.AppToken, APIURL: c.APIURL, Transport: net.transport()})
	found, err := api.Inspect(ctx)
	if err != nil {
		r.slackRefused(err)
		return
	}
	r.good("slack: %s, bot %s of workspace %s", found.Name, found.Bot, found.Team)
	if len(found.Missing) > 0 {
		r.fail("slack: the app lacks scopes: %s; add them under OAuth & Permissions, and install the app again", strings.Join(found.Missing, " "))
	}
	r.slackApp(ctx, api)
	r.clock("slack", found.Clock, time.Now())
}

// slackApp says whether the app token opens connections. It asks once, of the fifty times a minute that a daemon shares with it.
func (r *report) slackApp(ctx context.Context, api *slack.API) {
	err := api.InspectApp(ctx)
	why := slack.Refusal(err)
	switch {
	case err == nil:
		r.good("slack: the app token opens connections")
	case why != "":
		r.fail("slack: with the app token, %s", why)
	default:
		r.fail("slack: no answer about the app token: %v", err)
	}
}

func (r *report) slackRefused(err error) {
	if why := slack.Refusal(err); why != "" {
		r.fail("slack: %s", why)
		return
	}
	r.fail("slack: no answer: %v", err)
}

// clock compares this machine's clock with a platform's, which may not have told.
func (r *report) clock(platform string, theirs, ours time.Time) {
	off := ours.Sub(theirs).Round(time.Second)
	switch {
	case theirs.IsZero():
	case off.Abs() > clockSlack:
		r.fail("clock: %s off %s's; set it, by NTP for instance", off, platform)
	default:
		r.good("clock: as %s's", platform)
	}
}
