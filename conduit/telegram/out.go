package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/core/session"
)

// Poster posts parts that Renderer made. It is a conduit.Poster, and no Finder: Telegram can't be asked what it shows.
type Poster struct{ api *API }

// NewPoster returns a Poster for an account.
func NewPoster(api *API) Poster { return Poster{api} }

// Post sends the part and returns the message's id. The first part of an item replies to the message it answers, in groups only;
// later ones arrive in silence.
func (p Poster) Post(ctx context.Context, a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	where, err := parseAddress(a)
	if err != nil {
		return nil, &conduit.Error{Class: conduit.Gone, Err: err}
	}
	b, ok := part.Body.(body)
	if !ok {
		return nil, &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("telegram: post to %s: no part of Telegram's", a)}
	}
	return p.send(ctx, a, parameters(where, it, b))
}

// send sends the message, and again without what Telegram says it doesn't find: it was not posted then. Both a topic and the message
// that it had may be gone.
func (p Poster) send(ctx context.Context, a session.Address, params tgbotapi.Params) ([]string, error) {
	raw, err := p.api.call(ctx, "sendMessage", params)
	for err != nil && lighten(params, asCall(err)) {
		raw, err = p.api.call(ctx, "sendMessage", params)
	}
	if err != nil {
		e := asCall(err).posting()
		e.Err = fmt.Errorf("telegram: post to %s: %w", a, err)
		return nil, e
	}
	var m struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal(raw, &m) != nil || m.ID == 0 {
		return nil, &conduit.Error{Class: conduit.Unknown, Err: fmt.Errorf("telegram: post to %s: the answer holds no message", a)}
	}
	return []string{decimal(m.ID)}, nil
}

// parameters makes the parameters of sendMessage.
func parameters(where place, it conduit.Item, b body) tgbotapi.Params {
	params := tgbotapi.Params{
		"chat_id":              decimal(where.chat),
		"text":                 b.text,
		"link_preview_options": `{"is_disabled":true}`,
	}
	params.AddNonZero64("message_thread_id", where.topic)
	if b.html {
		params["parse_mode"] = "HTML"
	}
	if !b.first {
		params["disable_notification"] = "true"
	}
	if id, err := strconv.ParseInt(it.ReplyTo, 10, 64); err == nil && b.first && !where.private() {
		params["reply_parameters"] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, id)
	}
	return params
}

// lighten takes out of params what a refusal is about, and reports whether there was anything. A topic may be gone without a word, and
// Telegram has lost topics of private chats for a while (tdlib/telegram-bot-api#847): the chat is better than nothing. A topic that
// is closed or deleted is another matter. Replies are allowed to fail, but not into another topic (docs: ReplyParameters).
func lighten(params tgbotapi.Params, e *callError) bool {
	key := ""
	switch {
	case e.code != http.StatusBadRequest:
		return false
	case e.says("message thread not found"):
		key = "message_thread_id"
	case e.says("message to be replied not found", "replied message not found"):
		key = "reply_parameters"
	}
	_, had := params[key]
	delete(params, key)
	return had
}
