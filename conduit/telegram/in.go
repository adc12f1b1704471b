package telegram

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// event is an update translated: a message to accept, or the reason to ignore it; beside either, what the conduit is to do.
type event struct {
	inbound  session.Inbound
	ignored  string
	callback string    // the id of a button's press, which must be answered
	said     string    // what the answer to the press says; empty: nothing
	moved    *move     // the chat has become another one
	standing *standing // the bot was let in or shut out
	piece    piece     // of a message: how it may belong together with others
	where    place     // of a message: where it stands on Telegram
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
	case u.Edited != nil:
		return u.Edited.edit(me, max(u.ID, 0))
	case u.Callback != nil:
		return u.Callback.event(me)
	case u.Member != nil:
		return u.Member.event()
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
	if moved := m.moves(); moved != nil {
		return event{ignored: ignoredService, moved: moved}, nil
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
		Order: orderOf(m.ID), Text: t.text, Attachments: m.attachments(me), At: dated(m.Date), Message: decimal(m.ID),
		Quotes: m.quotes(me),
	}
	if !where.private() {
		in.Place = idOf(m.Chat.ID)
	}
	return event{inbound: in, piece: m.piece(t), where: where}, nil
}

// edit translates a message that was changed. What it says is read as if it were new. One without text is no edit of anything that
// counts: a live location moves, a reaction or a button changes. Edits have the second in their date; those of one second sort by their
// updates' ids, which Telegram starts anew only after a week.
func (m *message) edit(me Me, update int64) (event, error) {
	ev, err := m.event(me)
	switch {
	case err != nil:
		return ev, err
	case ev.moved != nil:
		return event{ignored: ignoredService}, nil
	case ev.ignored != "":
		return ev, nil
	case m.Text == "" && m.Caption == "" && (m.EditDate == 0 || given(m.Location)):
		return event{ignored: ignoredEdit}, nil
	}
	in := &ev.inbound
	in.Signal, in.Target, in.TargetKey = session.SignalEdit, in.Message, in.Key
	in.Key += "/edit/" + decimal(m.EditDate) + "/" + m.digest()
	in.Version = fmt.Sprintf("%012d/%010d", max(m.EditDate, 0), update)
	ev.piece = piece{}
	return ev, nil
}

// digest tells two edits of one second apart.
func (m *message) digest() string {
	sum := sha256.Sum256([]byte(m.Text + "\x00" + m.Caption + "\x00" + fmt.Sprint(m.attachments(Me{}))))
	return hex.EncodeToString(sum[:4])
}

// ignore returns why a message isn't for anybody here, whatever it says. What the bot can't read is worth a word in private only.
func (m *message) ignore(me Me) string {
	switch {
	case m.From != nil && m.From.ID == me.ID, m.ViaBot != nil && m.ViaBot.ID == me.ID:
		return ignoredOwn
	case m.AutoForward:
		return ignoredForward
	case m.Text != "" || m.Caption != "" || m.readable() != nil:
		return ""
	case m.unreadable() == "":
		return ignoredService
	case !m.place().private():
		return ignoredMedia
	}
	return ""
}

// author returns who wrote. An anonymous administrator writes as the group and a channel as itself: then from is one of Telegram's
// own accounts, the same for all of them, and only sender_chat counts (docs: Message). Who writes as the group is one of its
// administrators.
func (m *message) author() (session.Author, bool) {
	switch {
	case m.SenderChat != nil && m.SenderChat.ID != 0:
		admin := m.SenderChat.ID == m.Chat.ID && !m.place().private()
		return session.Author{ID: idOf(m.SenderChat.ID), Name: m.SenderChat.Title, Admin: admin, Known: true}, true
	case m.From != nil && m.From.ID != 0:
		return m.From.author(), true
	}
	return session.Author{}, false
}

func (u *user) author() session.Author {
	return session.Author{ID: idOf(u.ID), Name: u.name(), Handle: u.Username, Bot: u.IsBot, Known: true}
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

// dated reads a date of Telegram's, which has no fraction of a second. An inaccessible message has none.
func dated(unix int64) time.Time {
	if unix <= 0 || unix > lastDate {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// repliesTo reports whether the message replies to one of the bot's of its writer's own accord.
func (m *message) repliesTo(me Me) bool {
	r := m.reply()
	return r != nil && r.From != nil && r.From.ID == me.ID
}

// reply returns the message that this one replies to of its writer's own accord, nil if there is none.
func (m *message) reply() *replied {
	r := m.ReplyTo
	if r == nil || given(r.TopicCreated) || m.IsTopic && r.ID == m.Thread {
		return nil
	}
	return r
}
