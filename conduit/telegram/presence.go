package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"golang.org/x/time/rate"

	"orebot/conduit"
	"orebot/core/session"
)

// Beat is how often a typing sign is to be shown again: it fades after 5 s, or when a message comes (docs: sendChatAction).
const Beat = 4 * time.Second

const (
	// signTimeout bounds a call that nobody waits for: it ends before a typing sign would fade.
	signTimeout = Beat
	// The Presence of a message that says that an answer takes long, which place in line somebody has, that the model is being loaded. It
	// is on disk.
	kindSlow    = "slow"
	kindQueued  = "queued"
	kindLoading = "loading"
	// notedEmoji is one of the few that bots may react with (docs: ReactionTypeEmoji).
	notedEmoji = "✍"
	// maxUnreactive is for how many chats it is remembered that they take no reactions.
	maxUnreactive = 1000
)

// signRate is what signs take of the about thirty calls a second that Telegram allows: those that posts leave.
const (
	signRate  = 5
	signBurst = 10
)

// Presence shows in a chat that an answer is being made. It is a session.Presenter. What it shows is the first thing to be dropped: it
// calls nothing while the chat is told to wait or a post waits for its turn, and repeats nothing.
type Presence struct {
	api   *API
	spare *rate.Limiter

	mu         sync.Mutex
	unreactive map[string]bool // chats that refuse reactions
	mute       bool            // the server knows no reactions
}

var _ session.Presenter = (*Presence)(nil)

// NewPresence returns the Presence of an account.
func NewPresence(api *API) *Presence {
	return &Presence{api: api, spare: rate.NewLimiter(signRate, signBurst), unreactive: map[string]bool{}}
}

// Show shows that the bot types; the first time that an answer is slow, it says so too, in a message without sound, as it does of a place
// in line and of a model that is being loaded. Only such a message must be cleaned up. The typing sign fades by itself within 5 s.
func (p *Presence) Show(ctx context.Context, a session.Address, s session.Sign, shown *session.Presence) (*session.Presence, error) {
	where, err := parseAddress(a)
	if err != nil {
		return shown, err
	}
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	if shown, err = p.line(ctx, a, where, s, shown); err != nil || !p.free(a) {
		return shown, err
	}
	_, err = p.api.call(ctx, "sendChatAction", target(where, tgbotapi.Params{"action": "typing"}))
	return shown, err
}

// line keeps the message that a sign needs beside the typing: it takes back what isn't so any more, and says once what is.
func (p *Presence) line(ctx context.Context, a session.Address, where place, s session.Sign, shown *session.Presence) (*session.Presence, error) {
	kind := lineKind(s.Activity)
	if shown != nil && (shown.Kind == kindSlow || shown.Kind == kind) {
		return shown, nil
	}
	if shown != nil {
		if err := p.Clear(ctx, a, *shown); err != nil {
			return shown, err
		}
	}
	if kind == "" || !p.free(a) || !p.api.paces.Take(a) {
		return nil, nil
	}
	return p.sayLine(ctx, where, kind, s)
}

// lineKind is the kind of Presence of an activity's message; empty where there is none.
func lineKind(a session.Activity) string {
	switch a {
	case session.ActivitySlow:
		return kindSlow
	case session.ActivityQueued:
		return kindQueued
	case session.ActivityLoading:
		return kindLoading
	}
	return ""
}

// free reports whether a sign at an address takes nothing from a post.
func (p *Presence) free(a session.Address) bool {
	return p.api.pauses.Left(chatOf(a)) <= 0 && !p.api.paces.Busy(a) && p.spare.Allow()
}

// target adds to params where they go. Telegram doesn't check the thread of a chat action (server: Client.cpp).
func target(where place, params tgbotapi.Params) tgbotapi.Params {
	params["chat_id"] = decimal(where.chat)
	params.AddNonZero64("message_thread_id", where.thread())
	return params
}

// sayLine sends a sign's message, in a group as a reply, with a button that stops the answer.
func (p *Presence) sayLine(ctx context.Context, where place, kind string, s session.Sign) (*session.Presence, error) {
	params := parameters(where, conduit.Item{ReplyTo: s.Message}, body{text: strings.ReplaceAll(s.Line("/"), "`", ""), first: true, silent: true, offers: []string{"stop"}})
	raw, err := p.api.call(ctx, "sendMessage", params)
	if err != nil {
		return nil, err
	}
	id := messageID(raw)
	if id == 0 {
		return nil, fmt.Errorf("telegram: show at %s: the answer holds no message", where.address())
	}
	return &session.Presence{Kind: kind, Message: decimal(id)}, nil
}

// Clear deletes the message that Show has sent. One that is gone, or that Telegram doesn't let go, counts as deleted;
// an error means that it may be worth another try.
func (p *Presence) Clear(ctx context.Context, a session.Address, shown session.Presence) error {
	where, err := parseAddress(a)
	id, bad := strconv.ParseInt(shown.Message, 10, 64)
	if err != nil || bad != nil || shown.Kind != kindSlow && shown.Kind != kindQueued && shown.Kind != kindLoading {
		return nil // nobody could make anything of it later either
	}
	if d := p.api.pauses.Left(chatOf(a)); d > 0 {
		if err := conduit.Sleep(ctx, d); err != nil {
			return err
		}
	}
	_, err = p.api.call(ctx, "deleteMessage", tgbotapi.Params{"chat_id": decimal(where.chat), "message_id": decimal(id)})
	if err == nil {
		return nil
	}
	switch asCall(err).class() {
	case conduit.Retry, conduit.RetryAfter, conduit.Unknown, conduit.Dead:
		return err
	}
	return nil
}

// Noted reacts to an edited message. Where reactions are refused, none is tried again in this life.
func (p *Presence) Noted(ctx context.Context, a session.Address, message string) error {
	where, err := parseAddress(a)
	id, bad := strconv.ParseInt(message, 10, 64)
	chat := decimal(where.chat)
	if err != nil || bad != nil || p.refuses(chat) || !p.free(a) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	reaction, _ := json.Marshal([]map[string]string{{"type": "emoji", "emoji": notedEmoji}}) // plain data
	_, err = p.api.call(ctx, "setMessageReaction", tgbotapi.Params{
		"chat_id": chat, "message_id": decimal(id), "reaction": string(reaction),
	})
	if err != nil {
		p.learn(chat, asCall(err))
	}
	return nil
}

func (p *Presence) refuses(chat string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute || p.unreactive[chat]
}

// learn remembers who refuses reactions: a server too old for the method, or a chat. That one message isn't there any more says
// nothing about others.
func (p *Presence) learn(chat string, e *callError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.odd || e.says("message to react not found", "message not found"):
	case e.code == http.StatusNotFound && e.says("method not found"):
		p.mute = true
	case e.code == http.StatusBadRequest || e.code == http.StatusForbidden:
		if len(p.unreactive) >= maxUnreactive {
			clear(p.unreactive)
		}
		p.unreactive[chat] = true
	}
}
