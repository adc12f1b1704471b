package main

import (
	"context"
	"net/url"
	"time"

	"orebot/conduit/telegram"
	"orebot/internal/config"
)

// maxGroupsAsked is how many of telegram.groups are asked about.
const maxGroupsAsked = 20

// telegram asks Telegram who the bot is, what it hears in groups and where its updates go. No updates are asked for: that would take
// them from a daemon that runs.
func (r *report) telegram(ctx context.Context, net network, cfg *config.Config) {
	c := cfg.Telegram
	api := telegram.Dial(telegram.Account{Token: c.BotToken, APIURL: c.APIURL, Transport: net.transport(), Timeout: platformTime / 2})
	found, err := api.Inspect(ctx)
	if err != nil {
		r.fail("telegram at %s: %s", hostOf(c.APIURL), telegram.Remedy(err))
		return
	}
	r.good("telegram: bot @%s, id %d", found.Name, found.ID)
	r.webhook(ctx, api)
	r.privacy(c, found)
	r.groups(ctx, api, c.Groups, found)
	r.clock("telegram", found.Clock, time.Now())
}

// hostOf names a server for a person.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "telegram.api_url"
}

// webhook says whether the bot's updates are there to be polled. With a webhook each poll is refused (409).
func (r *report) webhook(ctx context.Context, api *telegram.API) {
	hook, err := api.Webhook(ctx)
	switch {
	case err != nil:
		r.fail("telegram: nothing is known of a webhook: %s", telegram.Remedy(err))
	case hook.Host != "":
		r.fail("telegram: a webhook takes this bot's updates to %s, %d wait; give orebot a bot of its own, or start it: orebot run removes the webhook",
			hook.Host, hook.Waiting)
	default:
		r.good("telegram: no webhook, %d updates wait", hook.Waiting)
	}
}

// privacy says what the bot gets of what is said in groups.
func (r *report) privacy(c config.Telegram, found telegram.Inspection) {
	inGroups := len(c.Groups) > 0 || c.Access == "open"
	switch {
	case found.ReadsAll:
		r.good("telegram: privacy mode is off: it hears all that is said in its groups")
	case inGroups:
		r.note("telegram: privacy mode is on: in groups it gets commands, mentions and replies to it, no follow-up without one; " +
			"for more, /setprivacy at @BotFather and add it to its groups again, or make it an administrator there")
	default:
		r.good("telegram: privacy mode is on: in groups it gets commands, mentions and replies to it")
	}
	if inGroups && !found.Joins {
		r.fail("telegram: it may not be added to groups; /setjoingroups at @BotFather, or empty telegram.groups")
	}
}

// groups says of the configured groups whether the bot is in them.
func (r *report) groups(ctx context.Context, api *telegram.API, groups []int64, found telegram.Inspection) {
	for _, id := range groups[:min(len(groups), maxGroupsAsked)] {
		m, err := api.Membership(ctx, id, found.ID)
		switch {
		case err != nil:
			r.fail("telegram.groups: nothing is known of %d: %s", id, telegram.Remedy(err))
			return
		case m.Moved != 0:
			r.note("telegram.groups: %d has become %d; either is understood", id, m.Moved)
		case !m.In:
			r.fail("telegram.groups: the bot isn't in %d; add it there, or take the id out", id)
		case m.Admin && !found.ReadsAll:
			r.good("telegram.groups: in %d, as an administrator: it hears all there", id)
		default:
			r.good("telegram.groups: in %d", id)
		}
	}
	if len(groups) > maxGroupsAsked {
		r.note("telegram.groups: only the first %d were asked about", maxGroupsAsked)
	}
}
