package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"orebot/conduit"
	"orebot/core/session"
)

const (
	findPage = 200       // messages a call, as Slack recommends
	findSlop = time.Hour // how far this machine's clock may be ahead of Slack's
)

var errCircle = errors.New("the pages go in a circle")

// errUntold: what only one person has seen can't be looked up.
var errUntold = errors.New("nobody can tell who has seen it")

// Find tells which message of the bot carries a turn and an offset in its metadata, or the file of that turn: in the thread, or in the
// DM's history. It looks at what was written since the question was, which Slack's own clock says; where there is no question, since
// the item was. What a thread doesn't hold may stand beside it, in a channel that has no threads.
func (p *poster) Find(ctx context.Context, a session.Address, it conduit.Item, offset int) (ids []string, found bool, err error) {
	at, err := parsePlace(a)
	if err != nil {
		return nil, false, &conduit.Error{Class: conduit.Gone, Err: err}
	}
	same := func(m object, me identity) bool { return shows(m, me, it, offset) }
	ts, err := p.look(ctx, at, same, it)
	switch {
	case at.thread != "" && codeOf(err) == "thread_not_found":
		ts, err = "", p.recall(ctx, at, same, it)
	case at.thread != "" && ts == "" && err == nil:
		ts, err = p.look(ctx, place{team: at.team, channel: at.channel}, same, it)
	}
	switch {
	case err != nil:
		return nil, false, lookUpError(fmt.Errorf("slack: look up in %s: %w", a.Place(), p.api.clean(err)))
	case ts == "" && it.Kind == conduit.Notice && (it.Private || it.ReplyURL != ""):
		err = fmt.Errorf("slack: look up in %s: %w", a.Place(), errUntold)
		return nil, false, &conduit.Error{Class: conduit.Malformed, Err: err}
	case ts == "":
		return nil, false, nil
	}
	return []string{ts}, true, nil
}

// look returns the ts of the message in a place that is the one meant; empty: none is. It is part of an item.
func (p *poster) look(ctx context.Context, at place, meant func(object, identity) bool, it conduit.Item) (string, error) {
	me, _, err := p.api.identify(ctx)
	if err != nil {
		return "", err
	}
	for cursor := ""; ; {
		page, next, err := p.patiently(ctx, at, it, cursor)
		if err != nil {
			return "", err
		}
		for _, m := range page {
			if ts := m.text("ts"); validTS(ts) && meant(m, me) {
				return ts, nil
			}
		}
		if next == "" {
			return "", nil
		}
		cursor = next
	}
}

// recall takes back a part that stands at top level because its thread's root was deleted, and that this process's last life didn't
// live to take back. See leaked.
func (p *poster) recall(ctx context.Context, at place, meant func(object, identity) bool, it conduit.Item) error {
	at.thread = ""
	ts, err := p.look(ctx, at, meant, it)
	if err != nil || ts == "" {
		return err
	}
	return p.takeBack(ctx, at.channel, ts)
}

// patiently is page, which waits as long as Slack says behind the first page: an app that may read one page a minute would never come
// to the second one if the look-up began anew.
func (p *poster) patiently(ctx context.Context, at place, it conduit.Item, cursor string) (page []object, next string, err error) {
	for {
		page, next, err = p.page(ctx, at, sinceOf(it), cursor)
		if err == nil && next != "" && next == cursor {
			err = errCircle
		}
		if err == nil || cursor == "" {
			return page, next, err
		}
		e := classify(err)
		if e.Class != conduit.RetryAfter {
			return nil, "", err
		}
		if conduit.Sleep(ctx, e.After) != nil {
			return nil, "", err
		}
	}
}

// sinceOf is the ts of a message that surely stands before all that shows an item.
func sinceOf(it conduit.Item) string {
	switch {
	case validTS(it.ReplyTo):
		return it.ReplyTo
	case it.At.IsZero():
		return ""
	}
	return stampOf(it.At.Add(-findSlop))
}

// page reads messages of a place since a moment. next is where the following page begins, empty for none.
func (p *poster) page(ctx context.Context, at place, since, cursor string) (page []object, next string, err error) {
	method, form := "conversations.history", url.Values{
		"channel": {at.channel}, "limit": {strconv.Itoa(findPage)}, "include_all_metadata": {"1"},
	}
	if at.thread != "" {
		method = "conversations.replies"
		form.Set("ts", at.thread)
	}
	for key, value := range map[string]string{"oldest": since, "cursor": cursor} {
		if value != "" {
			form.Set(key, value)
		}
	}
	o, err := p.api.ask(ctx, method, form)
	if err != nil {
		return nil, "", err
	}
	if _, ok := o["messages"]; !ok {
		return nil, "", errNoAnswer
	}
	return o.list("messages"), o.object("response_metadata").text("next_cursor"), nil
}

// shows reports whether a message is the bot's and shows the part of the turn that begins at offset, or the turn's file: nothing
// follows that.
func shows(m object, me identity, it conduit.Item, offset int) bool {
	meta := m.object("metadata")
	payload := meta.object("event_payload")
	at, err := strconv.ParseFloat(payload.text(metaOffset), 64)
	part := err == nil && at == float64(offset) && meta.text("event_type") == metaType && payload.text(metaTurn) == it.Turn.String()
	return mine(m, me) && (part || offset >= 0 && holdsFile(m, it))
}

// mine reports whether the bot wrote a message.
func mine(m object, me identity) bool {
	return m.text("user") == me.user || me.bot != "" && m.text("bot_id") == me.bot
}

// holdsFile reports whether a message holds the file of an item. Slack takes no metadata with files: the name carries the turn.
func holdsFile(m object, it conduit.Item) bool {
	name := fileName(it)
	for _, f := range m.list("files") {
		if f.text("name") == name {
			return true
		}
	}
	return false
}

// lookUpError classifies a look-up's failure. One whose scope is missing, or whose conversation can't be read, never succeeds; but
// that doesn't mean that nothing can be posted.
func lookUpError(err error) error {
	e := classify(err)
	switch codeOf(err) {
	case "missing_scope", "not_allowed_token_type", "team_access_not_granted":
		e.Class = conduit.Gone
	case "invalid_cursor": // too old by now; a look-up begins anew
		e.Class = conduit.Retry
	}
	return e
}
