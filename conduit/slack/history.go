package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/core/session"
)

const (
	historyTime  = 10 * time.Second // for what was said before, names included
	historyPages = 10               // a longer thread is read no further
)

var errTooLong = errors.New("the thread is too long to be read")

var _ session.Historian = (*API)(nil)

// Before reads what stands in a thread before a message: its root, and the newest of what follows. It asks once and doesn't wait where
// Slack limits the call. Of the bot's own messages it returns the answers. Where nothing can stand before it, it asks nothing.
func (api *API) Before(ctx context.Context, in session.Inbound, limit int) ([]session.Said, error) {
	at, err := parsePlace(in.Address)
	if err != nil || at.thread == "" || at.thread == in.Message || limit <= 0 {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	me, _, err := api.identify(ctx)
	if err != nil {
		return nil, err
	}
	list, err := api.replies(ctx, at, "", in.Order, limit)
	if err != nil {
		return nil, fmt.Errorf("slack: history of %s: %w", in.Address.Place(), api.clean(err))
	}
	var out []session.Said
	for _, m := range list {
		if s, ok := api.saidOf(ctx, m, me); ok && s.Message != in.Message {
			out = append(out, s)
		}
	}
	return out, nil
}

// replies returns the messages of a thread between two moments, oldest first: the root, whenever it was written, and the newest of the
// rest, limit in all. A method that Slack has limited isn't called until it may be.
func (api *API) replies(ctx context.Context, at place, oldest, latest string, limit int) ([]object, error) {
	var list []object
	seen := map[string]bool{}
	form := url.Values{"channel": {at.channel}, "ts": {at.thread}, "limit": {strconv.Itoa(findPage)}, "include_all_metadata": {"1"}}
	setWhere(form, "oldest", oldest)
	setWhere(form, "latest", latest)
	for range historyPages {
		o, err := api.politely(ctx, "conversations.replies", form)
		if err != nil {
			return nil, err
		}
		for _, m := range o.list("messages") { // the root is on every page
			if ts := m.text("ts"); validTS(ts) && !seen[ts] && (latest == "" || ts < latest) {
				seen[ts] = true
				list = append(list, m)
			}
		}
		next := o.object("response_metadata").text("next_cursor")
		switch {
		case next == "":
			return newest(list, limit), nil
		case next == form.Get("cursor"):
			return nil, errCircle
		}
		form.Set("cursor", next)
	}
	return nil, errTooLong
}

// newest keeps the first of a list, a thread's root, and the newest others.
func newest(list []object, limit int) []object {
	if len(list) <= limit {
		return list
	}
	return append(list[:1:1], list[len(list)-limit+1:]...)
}

// recent returns the newest top-level messages of a conversation since a moment, oldest first.
func (api *API) recent(ctx context.Context, channel, oldest string, limit int) ([]object, error) {
	form := url.Values{"channel": {channel}, "limit": {strconv.Itoa(limit)}}
	setWhere(form, "oldest", oldest)
	o, err := api.politely(ctx, "conversations.history", form)
	if err != nil {
		return nil, err
	}
	list := o.list("messages")
	slices.Reverse(list)
	return list, nil
}

func setWhere(form url.Values, key, value string) {
	if value != "" {
		form.Set(key, value)
	}
}

// politely asks, unless Slack has said that this method is to rest.
func (api *API) politely(ctx context.Context, method string, form url.Values) (object, error) {
	if err := api.rests.held(method); err != nil {
		return nil, err
	}
	o, err := api.ask(ctx, method, form)
	var limited *slackgo.RateLimitedError
	if errors.As(err, &limited) {
		api.rests.hold(method, max(limited.RetryAfter, time.Second), err)
	}
	return o, err
}

// saidOf reads a message as somebody said it; ok is false for what nobody said, and for notices of the bot.
func (api *API) saidOf(ctx context.Context, m object, me identity) (s session.Said, ok bool) {
	switch m.text("subtype") {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
	default:
		return s, false
	}
	meta := m.object("metadata")
	s.Own = own(m, me)
	if s.Own && (meta.text("event_type") != metaType || meta.object("event_payload").text(metaKind) != "") {
		return s, false
	}
	in := session.Inbound{Author: authorOf(m, me), Quotes: quotesOf(m, me), Mentions: mentionsOf(m, me)}
	in.Text = strings.TrimSpace(readText(m.text("text"), me))
	if in.Author.ID == "" {
		return s, false
	}
	in.Author.Name = profileName(m)
	if !s.Own {
		in = api.Names(ctx, in)
	}
	s.Author, s.Message, s.Order = in.Author, m.text("ts"), m.text("ts")
	s.Text = asSaid(in, filesOf(m))
	return s, s.Text != ""
}

// profileName is what a message itself says of how its author is called.
func profileName(m object) string {
	p := m.object("user_profile")
	return oneLine(firstOf(p.text("display_name"), p.text("real_name"), m.object("bot_profile").text("name"), m.text("username")))
}

// asSaid is a message as one text: with what it passes on, and the names of its files.
func asSaid(in session.Inbound, files []session.Attachment) string {
	parts := []string{in.Text}
	for _, q := range in.Quotes {
		parts = append(parts, "> "+strings.ReplaceAll(q.Text, "\n", "\n> "))
	}
	for _, f := range files {
		if f.Name != "" {
			parts = append(parts, "(file: "+f.Name+")")
		}
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n"))
}
