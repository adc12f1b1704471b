package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
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
	metaKind   = "kind" // of what isn't an answer
)

// Errors of posts that Slack took in its own way.
var (
	errNoAnswer = errors.New("the answer names no message")
	errNoThread = errors.New("the thread is deleted")
)

// poster posts parts and finds them again.
type poster struct {
	api  *API
	log  *slog.Logger
	note func(topic, text string) // see Slack.note; nil: nobody is told

	noFiles atomic.Bool // the operator was told that files can't be posted
	uploads uploads
}

var _ conduit.Finder = (*poster)(nil)

// Post shows a part: a file as one, a notice that answers a slash command through the response URL, one that is meant for a single
// person where only that person sees it, and everything else as a message, whose ts is returned.
func (p *poster) Post(ctx context.Context, a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	at, err := parsePlace(a)
	if err != nil {
		return nil, &conduit.Error{Class: conduit.Gone, Err: err}
	}
	b, ok := part.Body.(body)
	if !ok {
		return nil, &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("slack: post to %s: nothing to post", a.Place())}
	}
	if b.file.name != "" {
		return p.upload(ctx, a, at, it, b)
	}
	if done, err := p.aside(ctx, a, at, it, b); done || err != nil {
		return nil, err
	}
	return p.publish(ctx, a, at, it, part.Offset, b)
}

// publish posts a part as one message, with the turn and the offset in its metadata. Where a channel has no threads, it is posted
// beside the message that it answers.
func (p *poster) publish(ctx context.Context, a session.Address, at place, it conduit.Item, offset int, b body) ([]string, error) {
	_, ts, msg, err := p.api.client.PostMessageWithResponseContext(ctx, at.channel, optionsOf(at, it, offset, b)...)
	if codeOf(err) == "restricted_action_non_threadable_channel" && at.thread != "" {
		at.thread = ""
		_, ts, msg, err = p.api.client.PostMessageWithResponseContext(ctx, at.channel, optionsOf(at, it, offset, b)...)
	}
	switch {
	case err != nil:
		return nil, p.refused(a, it, err)
	case ts == "":
		return nil, &conduit.Error{Class: conduit.Unknown, Err: fmt.Errorf("slack: post to %s: %w", a.Place(), errNoAnswer)}
	case at.thread != "" && msg.Timestamp == ts && msg.ThreadTimestamp == "":
		return p.leaked(ctx, a, at, ts)
	}
	p.tell(notePosting, "")
	return []string{ts}, nil
}

// refused is the error of a post. What answers a slash command may be for a conversation that the bot isn't in: that it can't be
// posted there is no reason to end the place, where the next command can be answered again. It is dropped.
func (p *poster) refused(a session.Address, it conduit.Item, err error) error {
	e := p.judged(fmt.Errorf("slack: post to %s: %w", a.Place(), p.api.clean(withScopes(err))))
	if e.Class == conduit.Gone && answersCommand(it) {
		p.log.Warn("answer to a slash command dropped", observe.KeyAddress, string(a), observe.KeyError, e)
		return nil
	}
	return e
}

func (p *poster) tell(topic, text string) {
	if p.note != nil {
		p.note(topic, text)
	}
}

// judged classifies the error of a message's post. A missing scope isn't the end of the Slack side: events, look-ups and response URLs
// work without it, and what waits can be posted as soon as the app is installed again, under the same token.
func (p *poster) judged(err error) *conduit.Error {
	e := classify(err)
	var code slackgo.SlackErrorResponse
	if !errors.As(err, &code) || code.Err != "missing_scope" {
		return e
	}
	p.tell(notePosting, "the Slack app may not post: it lacks the scope "+firstOf(code.Needed, "chat:write")+
		"; add it to the app and install it again; what is to be posted waits")
	e.Class, e.After = conduit.RetryAfter, scopeWait
	return e
}

// optionsOf is a message that shows a part.
func optionsOf(at place, it conduit.Item, offset int, b body) []slackgo.MsgOption {
	payload := map[string]any{metaTurn: it.Turn.String(), metaOffset: offset}
	if it.Kind != conduit.Answer {
		payload[metaKind] = it.Kind.String()
	}
	return append(looksOf(at, b), slackgo.MsgOptionMetadata(slackgo.SlackMetadata{EventType: metaType, EventPayload: payload}))
}

// looksOf is how a message looks, and where it stands. No link is unfolded, the model's least of all: Slack would fetch what it made up.
func looksOf(at place, b body) []slackgo.MsgOption {
	opts := []slackgo.MsgOption{
		slackgo.MsgOptionText(b.text, false), slackgo.MsgOptionDisableLinkUnfurl(), slackgo.MsgOptionDisableMediaUnfurl(),
	}
	if at.thread != "" {
		opts = append(opts, slackgo.MsgOptionTS(at.thread))
	}
	if b.plain {
		opts = append(opts, slackgo.MsgOptionDisableMarkdown())
	}
	if blocks := blocksOf(b); blocks != nil {
		opts = append(opts, slackgo.MsgOptionBlocks(blocks...))
	}
	if b.folded != "" {
		opts = append(opts, slackgo.MsgOptionAttachments(folding(b.folded)))
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
		if !passing || try == takeBackTries || conduit.Sleep(ctx, max(e.After, time.Duration(try)*time.Second)) != nil {
			return err
		}
	}
}
