package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

// What the metadata of the bot's messages are called. They are on Slack's disks.
const (
	metaType   = "orebot_part"
	metaTurn   = "turn"
	metaOffset = "offset"
)

// Errors of posts that Slack took in its own way.
var (
	errNoAnswer = errors.New("the answer names no message")
	errNoThread = errors.New("the thread is deleted")
)

// poster posts parts and finds them again.
type poster struct {
	api *API
	log *slog.Logger
}

var _ conduit.Finder = (*poster)(nil)

// Post posts a part as one message, with the turn and the offset in its metadata, and returns its ts.
func (p *poster) Post(ctx context.Context, a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	at, err := parsePlace(a)
	if err != nil {
		return nil, &conduit.Error{Class: conduit.Gone, Err: err}
	}
	b, ok := part.Body.(body)
	if !ok {
		return nil, &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("slack: post to %s: nothing to post", a.Place())}
	}
	_, ts, msg, err := p.api.client.PostMessageWithResponseContext(ctx, at.channel, optionsOf(at, it, part.Offset, b)...)
	switch {
	case err != nil:
		err = fmt.Errorf("slack: post to %s: %w", a.Place(), p.api.clean(err))
		return nil, classify(err)
	case ts == "":
		return nil, &conduit.Error{Class: conduit.Unknown, Err: fmt.Errorf("slack: post to %s: %w", a.Place(), errNoAnswer)}
	case at.thread != "" && msg.Timestamp == ts && msg.ThreadTimestamp == "":
		return p.leaked(ctx, a, at, ts)
	}
	return []string{ts}, nil
}

func optionsOf(at place, it conduit.Item, offset int, b body) []slackgo.MsgOption {
	opts := []slackgo.MsgOption{
		slackgo.MsgOptionText(b.text, false),
		slackgo.MsgOptionDisableLinkUnfurl(),
		slackgo.MsgOptionDisableMediaUnfurl(),
		slackgo.MsgOptionMetadata(slackgo.SlackMetadata{
			EventType:    metaType,
			EventPayload: map[string]any{metaTurn: it.Turn.String(), metaOffset: offset},
		}),
	}
	if at.thread != "" {
		opts = append(opts, slackgo.MsgOptionTS(at.thread))
	}
	if b.plain {
		opts = append(opts, slackgo.MsgOptionDisableMarkdown())
	}
	return opts
}

// leaked takes back a reply that Slack has put at top level, where everybody sees it: that is what Slack does when the thread's root
// was deleted. What can't be taken back counts as posted.
func (p *poster) leaked(ctx context.Context, a session.Address, at place, ts string) ([]string, error) {
	if err := p.takeBack(ctx, at.channel, ts); err != nil {
		p.log.Warn("reply stands outside its thread", observe.KeyAddress, string(a), observe.KeyError, p.api.clean(err))
		return []string{ts}, nil
	}
	return nil, &conduit.Error{Class: conduit.Gone, Err: fmt.Errorf("slack: post to %s: %w", a.Place(), errNoThread)}
}

// takeBackTries is how often a deletion is tried: the message stands where it must not until one succeeds.
const takeBackTries = 4

// takeBack deletes one of the bot's messages.
func (p *poster) takeBack(ctx context.Context, channel, ts string) error {
	for try := 1; ; try++ {
		_, _, err := p.api.client.DeleteMessageContext(ctx, channel, ts)
		if err == nil || codeOf(err) == "message_not_found" {
			return nil
		}
		e := classify(err)
		passing := e.Class == conduit.Retry || e.Class == conduit.RetryAfter || e.Class == conduit.Unknown
		if !passing || try == takeBackTries || pauseFor(ctx, max(e.After, time.Duration(try)*time.Second)) != nil {
			return err
		}
	}
}
