package slack

import (
	"context"
	"errors"
	"fmt"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/session"
)

var _ conduit.Reviser = (*poster)(nil)

// errNoPart says that a part is nothing that a message can show, or the message none of Slack's.
var errNoPart = errors.New("no part, or no message")

// Change makes one of the bot's messages show a part. Its metadata stay. What Slack says of a message that isn't there any more, or that it
// lets nobody edit (message_not_found, edit_window_closed, cant_update_message), is a refusal of that message.
func (p *poster) Change(ctx context.Context, a session.Address, message string, _ conduit.Item, part conduit.Part) error {
	at, err := parsePlace(a)
	b, ok := part.Body.(body)
	if err != nil || !ok || b.file.name != "" || !validTS(message) {
		return &conduit.Error{Class: conduit.Malformed, Err: errors.Join(fmt.Errorf("slack: change %s at %s: %w", message, a.Place(), errNoPart), err)}
	}
	// A list of blocks that is empty, or isn't there, would leave the old ones.
	opts := append(looksOf(place{channel: at.channel}, b), slackgo.MsgOptionUpdate(message), slackgo.MsgOptionParse(false))
	if _, _, _, err = p.api.client.SendMessageContext(ctx, at.channel, opts...); err != nil {
		return p.judged(fmt.Errorf("slack: change %s at %s: %w", message, a.Place(), p.api.clean(withScopes(err))))
	}
	return nil
}

// Remove deletes one of the bot's messages.
func (p *poster) Remove(ctx context.Context, a session.Address, message string) error {
	at, err := parsePlace(a)
	if err != nil || !validTS(message) {
		return &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("slack: remove %q at %s: no message of Slack's", message, a.Place())}
	}
	_, _, err = p.api.client.DeleteMessageContext(ctx, at.channel, message)
	if err == nil || codeOf(err) == "message_not_found" {
		return nil
	}
	return p.judged(fmt.Errorf("slack: remove %s at %s: %w", message, a.Place(), p.api.clean(withScopes(err))))
}
