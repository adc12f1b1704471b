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
	raw, err := p.send(ctx, where, b, parameters(where, it, b))
	if err != nil {
		e := asCall(err).posting()
		if b.file != "" && (e.Class == conduit.Malformed || e.Class == conduit.TooBig) {
			e.Class = conduit.NoFile
		}
		e.Err = fmt.Errorf("telegram: post to %s: %w", a, err)
		return nil, e
	}
	id := messageID(raw)
	if id == 0 {
		return nil, &conduit.Error{Class: conduit.Unknown, Err: fmt.Errorf("telegram: post to %s: the answer holds no message", a)}
	}
	return []string{decimal(id)}, nil
}

// send sends the message, and again without what Telegram says it doesn't find: it was not posted then. Both a topic and the message
// that it had may be gone.
func (p Poster) send(ctx context.Context, where place, b body, params tgbotapi.Params) (json.RawMessage, error) {
	raw, err := p.once(ctx, b, params)
	for err != nil && lighten(where, params, asCall(err)) {
		raw, err = p.once(ctx, b, params)
	}
	return raw, err
}

func (p Poster) once(ctx context.Context, b body, params tgbotapi.Params) (json.RawMessage, error) {
	if b.file != "" {
		return p.api.upload(ctx, "sendDocument", params, "document", b.file, []byte(b.data))
	}
	return p.api.call(ctx, "sendMessage", params)
}

// messageID reads the message that a call has sent; 0: there is none.
func messageID(raw json.RawMessage) int64 {
	var m struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return 0
	}
	return m.ID
}

// parameters makes the parameters of sendMessage or sendDocument, without the file.
func parameters(where place, it conduit.Item, b body) tgbotapi.Params {
	params := tgbotapi.Params{"chat_id": decimal(where.chat)}
	if b.file != "" {
		params.AddNonEmpty("caption", b.text)
	} else {
		params["text"] = b.text
		params["link_preview_options"] = `{"is_disabled":true}`
	}
	params.AddNonZero64("message_thread_id", where.thread())
	if b.html {
		params["parse_mode"] = "HTML"
	}
	if b.silent {
		params["disable_notification"] = "true"
	}
	if id, err := strconv.ParseInt(it.ReplyTo, 10, 64); err == nil && b.first && !where.private() {
		params["reply_parameters"] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, id)
	}
	params.AddNonEmpty("reply_markup", keyboard(b.offers))
	return params
}

// general is the thread id of a forum's General topic. Sending there fails with it, and works without (server: Client.cpp). A private
// chat has no such topic: there it is the one whose making was the first message that the bot ever got.
const general = 1

// thread is the place's message_thread_id; 0: none.
func (p place) thread() int64 {
	if p.topic == general && !p.private() {
		return 0
	}
	return p.topic
}

// lighten takes out of params what a refusal is about, and reports whether there was anything. Telegram has lost topics of private
// chats for a while (tdlib/telegram-bot-api#847), and there the chat is one person's anyway. In a forum the answer would land among
// other people: a topic that isn't found there is gone. Replies are allowed to fail, but not into another topic (docs:
// ReplyParameters).
func lighten(where place, params tgbotapi.Params, e *callError) bool {
	key := ""
	switch {
	case e.code != http.StatusBadRequest:
		return false
	case e.says("message thread not found") && where.private():
		key = "message_thread_id"
	case e.says("message to be replied not found", "replied message not found"):
		key = "reply_parameters"
	}
	_, had := params[key]
	delete(params, key)
	return had
}
