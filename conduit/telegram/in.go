package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orebot/core/session"
)

// Reasons for ignoring an update, metric labels.
const (
	ignoredEdit     = "edit"
	ignoredCallback = "callback"
	ignoredMember   = "member"
	ignoredKind     = "kind"
	ignoredOwn      = "own"
	ignoredForward  = "forward"
	ignoredService  = "service"
	ignoredMedia    = "media"
	ignoredOtherBot = "other_bot"
	ignoredPoison   = "poison"
)

// event is an update translated: a message to accept, or the reason to ignore it.
type event struct {
	inbound  session.Inbound
	ignored  string
	callback string // the id of a button's press, which must be answered
}

// translate makes an event of one update. An error is an update that can't be read.
func translate(raw json.RawMessage, me Me) (event, error) {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		return event{}, fmt.Errorf("update: %w", err)
	}
	switch {
	case u.Message != nil:
		return u.Message.event(me)
	case given(u.Edited):
		return event{ignored: ignoredEdit}, nil
	case u.Callback != nil:
		return event{ignored: ignoredCallback, callback: u.Callback.ID}, nil
	case given(u.Member):
		return event{ignored: ignoredMember}, nil
	}
	return event{ignored: ignoredKind}, nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// event translates a message.
func (m *message) event(me Me) (event, error) {
	author, ok := m.author()
	if !ok || m.ID <= 0 || m.Chat.ID == 0 || m.Thread < 0 {
		return event{}, errors.New("message: it lacks a sender, an id or a chat")
	}
	if reason := m.ignore(me); reason != "" {
		return event{ignored: reason}, nil
	}
	t := m.reading(me)
	if t.otherBot {
		return event{ignored: ignoredOtherBot}, nil
	}
	where := m.place()
	in := session.Inbound{
		Key: keyOf(m.Chat.ID, m.ID), Address: where.address(), Author: author, Call: t.call, Elsewhere: t.elsewhere,
		Order: orderOf(m.ID), Text: t.text, Attachments: m.attachments(), At: m.at(), Message: decimal(m.ID),
	}
	if !where.private() {
		in.Place = idOf(m.Chat.ID)
	}
	return event{inbound: in}, nil
}

// ignore returns why a message isn't for anybody here, whatever it says.
func (m *message) ignore(me Me) string {
	switch {
	case m.From != nil && m.From.ID == me.ID, m.ViaBot != nil && m.ViaBot.ID == me.ID:
		return ignoredOwn
	case m.AutoForward:
		return ignoredForward
	case m.Text != "" || m.Caption != "":
		return ""
	case !m.shows():
		return ignoredService
	case !m.place().private():
		return ignoredMedia
	}
	return ""
}

// author returns who wrote. An anonymous administrator writes as the group and a channel as itself: then from is one of Telegram's
// own accounts, the same for all of them, and only sender_chat counts (docs: Message).
func (m *message) author() (session.Author, bool) {
	switch {
	case m.SenderChat != nil && m.SenderChat.ID != 0:
		return session.Author{ID: idOf(m.SenderChat.ID), Name: m.SenderChat.Title, Known: true}, true
	case m.From != nil && m.From.ID != 0:
		return session.Author{ID: idOf(m.From.ID), Name: m.From.name(), Handle: m.From.Username, Bot: m.From.IsBot, Known: true}, true
	}
	return session.Author{}, false
}

func (u *user) name() string {
	switch {
	case u.FirstName != "" && u.LastName != "":
		return u.FirstName + " " + u.LastName
	case u.FirstName != "":
		return u.FirstName
	}
	return u.Username
}

// place returns where the message stands. A thread id alone is no topic: in groups each chain of replies has one too, and sending to
// it fails in a forum (server: get_forum_topic_id).
func (m *message) place() place {
	p := place{chat: m.Chat.ID}
	if m.IsTopic {
		p.topic = m.Thread
	}
	return p
}

// lastDate is the last second that JSON has a form for.
const lastDate = 253402300799

func (m *message) at() time.Time {
	if m.Date <= 0 || m.Date > lastDate {
		return time.Time{} // an inaccessible message has no date
	}
	return time.Unix(m.Date, 0).UTC()
}

// repliesTo reports whether the message replies to one of the bot's of its writer's own accord.
func (m *message) repliesTo(me Me) bool {
	r := m.ReplyTo
	if r == nil || r.From == nil || r.From.ID != me.ID || given(r.TopicCreated) {
		return false
	}
	return !m.IsTopic || r.ID != m.Thread
}

// shows reports whether there is anything that a person sees as a message; what else has neither text nor caption is about the chat.
func (m *message) shows() bool {
	for _, raw := range []json.RawMessage{m.Checklist, m.Contact, m.Dice, m.Game, m.Giveaway, m.Invoice, m.Location, m.PaidMedia,
		m.Poll, m.Rich, m.Story, m.Venue} {
		if given(raw) {
			return true
		}
	}
	return len(m.attachments()) > 0
}

// attachments refers to the message's file: of a photo, to its largest size. A message has one file at most; an animation is
// described as a document too.
func (m *message) attachments() []session.Attachment {
	var best *file
	for i := range m.Photo {
		if best == nil || m.Photo[i].Width > best.Width {
			best = &m.Photo[i]
		}
	}
	for _, f := range []*file{m.Animation, m.Document, m.Audio, m.Sticker, m.Video, m.VideoNote, m.Voice} {
		if best == nil {
			best = f
		}
	}
	if best == nil || best.ID == "" {
		return nil
	}
	return []session.Attachment{{ID: best.ID, Name: best.Name, MIME: best.MIME, Size: max(best.Size, 0)}}
}
