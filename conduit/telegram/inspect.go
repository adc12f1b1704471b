package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// Inspection is what an operator wants to know of an account before the bot runs.
type Inspection struct {
	ID       int64     // of the bot
	Name     string    // its username, without the @
	ReadsAll bool      // privacy mode is off
	Joins    bool      // it may be added to groups
	Clock    time.Time // the server's, to the second; zero: it didn't say
}

// Webhook is what Telegram tells of the address that it sends a bot's updates to.
type Webhook struct {
	Host    string // where they go; "": nowhere, they are there to be polled
	Waiting int    // updates that wait to be taken
}

// Inspect asks Telegram who the bot is. It takes no updates, which would be another reader's. What an operator can do about an error,
// Remedy says.
func (a *API) Inspect(ctx context.Context) (Inspection, error) {
	x := &exchange{client: a.client}
	raw, err := a.through(ctx, x, a.account.Timeout, "getMe", nil, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return bot.MakeRequest("getMe", nil)
	})
	if err != nil {
		return Inspection{}, err
	}
	me, err := meOf(raw)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{ID: me.ID, Name: me.Username, ReadsAll: me.ReadsAll, Joins: me.Joins, Clock: x.date}, nil
}

// Webhook asks where the bot's updates go. Of an address only the host is told: the rest of it may be a secret.
func (a *API) Webhook(ctx context.Context) (Webhook, error) {
	raw, err := a.call(ctx, "getWebhookInfo", nil)
	if err != nil {
		return Webhook{}, err
	}
	var info struct {
		URL     string `json:"url"`
		Pending int    `json:"pending_update_count"`
	}
	if err := json.Unmarshal(raw, &info); err != nil {
		return Webhook{}, &callError{method: "getWebhookInfo", sent: true, err: errNoAnswer}
	}
	w := Webhook{Waiting: info.Pending}
	if info.URL != "" {
		w.Host = "an address that can't be read"
		if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
			w.Host = u.Host
		}
	}
	return w, nil
}

// Membership is what the bot is in a group.
type Membership struct {
	In    bool
	Admin bool  // it sees all messages, whatever the privacy mode
	Moved int64 // the supergroup that the group has become; 0: none
}

// Membership asks what the bot with an id is in a group. A group that Telegram doesn't know, or doesn't tell the bot about, is one that it
// isn't in.
func (a *API) Membership(ctx context.Context, group, bot int64) (Membership, error) {
	raw, err := a.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": decimal(group), "user_id": decimal(bot)})
	if err != nil {
		e := asCall(err)
		if !e.odd && (e.code == http.StatusBadRequest || e.code == http.StatusForbidden) {
			return Membership{Moved: e.migrateTo}, nil
		}
		return Membership{}, err
	}
	var s status
	if err := json.Unmarshal(raw, &s); err != nil {
		return Membership{}, &callError{method: "getChatMember", sent: true, err: errNoAnswer}
	}
	return Membership{In: s.in(), Admin: s.Status == "administrator" || s.Status == "creator"}, nil
}

// errNoAnswer is an answer that isn't one of the method that was called.
var errNoAnswer = errors.New("the answer is not one of the Bot API")

// Remedy says in one sentence why a call of Inspect, Webhook or Membership failed, and what an operator can do about it.
func Remedy(err error) string {
	e := asCall(err)
	switch {
	case e.code == 0:
		return unreached(e)
	case e.odd && (e.code >= 500 || e.code == http.StatusTooManyRequests):
		return fmt.Sprintf("something in between answers %d instead of the Bot API; try again in a few minutes", e.code)
	case e.odd:
		return fmt.Sprintf("what answers there (%d) isn't the Bot API; correct telegram.api_url", e.code)
	case e.code == http.StatusUnauthorized:
		return "the token isn't valid; take the bot's current one from @BotFather (/mybots, API Token) and set telegram.bot_token"
	case e.malformedToken():
		return "there is no bot with this token; copy it whole from @BotFather, and check that nothing follows the host in telegram.api_url"
	case e.code == http.StatusMisdirectedRequest:
		return "this Bot API server serves other bots; correct telegram.api_url"
	case e.code == http.StatusTooManyRequests:
		return fmt.Sprintf("Telegram wants to be left alone for %s; check again then", max(e.wait(), time.Second))
	case e.code >= 500:
		return fmt.Sprintf("Telegram is out of order (%d); try again in a few minutes", e.code)
	}
	return fmt.Sprintf("Telegram refuses: %s (%d)", e.text, e.code)
}
