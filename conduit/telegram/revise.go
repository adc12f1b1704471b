package telegram

import (
	"context"
	"fmt"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/core/session"
)

var _ conduit.Reviser = Poster{}

// Change makes one of the bot's messages show a part. Telegram lets a bot edit the text of its own messages at any age; what it says of one
// that isn't there any more, or that is a file, is a refusal of that message.
func (p Poster) Change(ctx context.Context, a session.Address, message string, _ conduit.Item, part conduit.Part) error {
	where, id, err := messageAt(a, message)
	b, ok := part.Body.(body)
	if err != nil || !ok || b.file != "" {
		return &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("telegram: change %s at %s: no part that a message can show", message, a)}
	}
	params := tgbotapi.Params{"chat_id": decimal(where.chat), "message_id": decimal(id), "text": b.text, "link_preview_options": `{"is_disabled":true}`}
	if b.html {
		params["parse_mode"] = "HTML"
	}
	_, err = p.api.call(ctx, "editMessageText", params)
	return revised(a, err, "message is not modified")
}

// Remove deletes one of the bot's messages. Telegram does that for 48 hours, and longer where the bot is an admin (docs: deleteMessage).
func (p Poster) Remove(ctx context.Context, a session.Address, message string) error {
	where, id, err := messageAt(a, message)
	if err != nil {
		return &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("telegram: remove %s at %s: %w", message, a, err)}
	}
	_, err = p.api.call(ctx, "deleteMessage", tgbotapi.Params{"chat_id": decimal(where.chat), "message_id": decimal(id)})
	return revised(a, err, "message to delete not found")
}

// messageAt reads where a message stands.
func messageAt(a session.Address, message string) (where place, id int64, err error) {
	if where, err = parseAddress(a); err == nil {
		id, err = strconv.ParseInt(message, 10, 64)
	}
	return where, id, err
}

// revised is the outcome of a change; a refusal with one of the texts says that all is so already.
func revised(a session.Address, err error, so ...string) error {
	if err == nil {
		return nil
	}
	call := asCall(err)
	if call.final() && call.says(so...) {
		return nil
	}
	e := call.posting()
	e.Err = fmt.Errorf("telegram: change at %s: %w", a, err)
	return e
}
