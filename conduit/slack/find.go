package slack

import (
	"context"
	"fmt"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/session"
)

const (
	findPage = 200         // messages a call, as Slack recommends
	findSlop = time.Minute // how far Slack's clock may be behind
)

// Find tells which message of the bot carries a turn and an offset in its metadata: in the thread, or in the DM's history. It looks
// at what was written since the item was.
func (p *poster) Find(ctx context.Context, a session.Address, it conduit.Item, offset int) (ids []string, found bool, err error) {
	at, err := parsePlace(a)
	if err != nil {
		return nil, false, &conduit.Error{Class: conduit.Gone, Err: err}
	}
	me, _, err := p.api.identify(ctx)
	if err != nil {
		return nil, false, classify(err)
	}
	since := ""
	if !it.At.IsZero() {
		since = stampOf(it.At.Add(-findSlop))
	}
	for cursor := ""; ; {
		var page []slackgo.Message
		if page, cursor, err = p.page(ctx, at, since, cursor); err != nil {
			return nil, false, lookUpError(fmt.Errorf("slack: look up in %s: %w", a.Place(), p.api.clean(err)))
		}
		for i := range page {
			if shows(&page[i], me, it, offset) {
				return []string{page[i].Timestamp}, true, nil
			}
		}
		if cursor == "" {
			return nil, false, nil
		}
	}
}

// page reads messages of a place since a moment. next is where the following page begins, empty for none.
func (p *poster) page(ctx context.Context, at place, since, cursor string) (page []slackgo.Message, next string, err error) {
	if at.thread != "" {
		page, _, next, err = p.api.client.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
			ChannelID: at.channel, Timestamp: at.thread, Oldest: since, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
		})
		return page, next, err
	}
	r, err := p.api.client.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
		ChannelID: at.channel, Oldest: since, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return r.Messages, r.ResponseMetaData.NextCursor, nil
}

// shows reports whether a message is the bot's and shows the part of the turn that begins at offset.
func shows(m *slackgo.Message, me identity, it conduit.Item, offset int) bool {
	turn, _ := m.Metadata.EventPayload[metaTurn].(string)
	at, ok := m.Metadata.EventPayload[metaOffset].(float64)
	mine := m.User == me.user || m.BotID != "" && m.BotID == me.bot
	return mine && ok && m.Metadata.EventType == metaType && turn == it.Turn.String() && at == float64(offset)
}

// lookUpError classifies a look-up's failure. One whose scope is missing, or whose conversation can't be read, never succeeds; but
// that doesn't mean that nothing can be posted.
func lookUpError(err error) error {
	e := classify(err)
	switch codeOf(err) {
	case "missing_scope", "not_allowed_token_type", "team_access_not_granted":
		e.Class = conduit.Gone
	}
	return e
}
