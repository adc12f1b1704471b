package telegram

import (
	"encoding/json"
	"strings"
	"time"
)

// Option changes a message that a person sends.
type Option func(*saying)

// saying is a message on its way from a person.
type saying struct {
	m       *Message
	held    bool
	mention []textMention
}

type textMention struct {
	word string
	user User
}

// Topic puts the message into a topic of a forum or of a private chat.
func Topic(id int) Option { return func(s *saying) { s.m.Topic = id } }

// ReplyTo makes the message a reply. In a topic it stays there; elsewhere in a supergroup it joins the chain of replies,
// whose root is its message_thread_id (source: get_forum_topic_id), which is no topic: the General-topic trap.
func ReplyTo(message int) Option { return func(s *saying) { s.m.ReplyTo = message } }

// TextMention marks the first occurrence of word as a mention of a user by id, as clients do for people without a
// username.
func TextMention(word string, u User) Option {
	return func(s *saying) { s.mention = append(s.mention, textMention{word, u}) }
}

// Document attaches a file; the text is its caption.
func Document(f File) Option { return func(s *saying) { s.m.File = &f } }

// Photo attaches a photo, shown in two sizes; the text is its caption.
func Photo(f File) Option {
	return func(s *saying) { s.m.File, s.m.photo = &f, true }
}

// Album makes the message one of an album: give all of them the same group.
func Album(group string) Option { return Field("media_group_id", group) }

// Quote is the part of the message replied to that the person picked.
func Quote(text string) Option {
	return Field("quote", map[string]any{"text": text, "position": 0, "is_manual": true})
}

// Forwarded makes the message a forward of somebody's.
func Forwarded(from User, at time.Time) Option {
	return Field("forward_origin", map[string]any{"type": "user", "date": at.Unix(), "sender_user": from.wire()})
}

// ForwardedHidden makes the message a forward of somebody who hides their account.
func ForwardedHidden(name string, at time.Time) Option {
	return Field("forward_origin", map[string]any{"type": "hidden_user", "date": at.Unix(), "sender_user_name": name})
}

// ForwardedChat makes the message a forward of what somebody wrote in the name of a chat.
func ForwardedChat(title, signature string, at time.Time) Option {
	return Field("forward_origin", map[string]any{"type": "chat", "date": at.Unix(), "author_signature": signature,
		"sender_chat": map[string]any{"id": -1009000000002, "type": "supergroup", "title": title}})
}

// ExternalReply makes the message a reply to somebody's message in another chat, with the part of it that was picked.
func ExternalReply(from User, quote string) Option {
	return func(s *saying) {
		Field("external_reply", map[string]any{"origin": map[string]any{"type": "user", "date": 1, "sender_user": from.wire()},
			"chat": map[string]any{"id": -1009000000002, "type": "supergroup", "title": "Elsewhere"}, "message_id": 3})(s)
		Quote(quote)(s)
	}
}

// ForwardedChannel makes the message a forward from a channel.
func ForwardedChannel(title string, message int, at time.Time) Option {
	return Field("forward_origin", map[string]any{"type": "channel", "date": at.Unix(), "message_id": message,
		"chat": map[string]any{"id": -1009000000001, "type": "channel", "title": title}})
}

// Sent gives the message another date than now, as messages have that waited while the bot was away.
func Sent(at time.Time) Option { return func(s *saying) { s.m.Date = at } }

// ViaBot says that the message came from an inline bot.
func ViaBot(u User) Option { return Field("via_bot", u.wire()) }

// As gives the message another sender than its from: the group itself of an anonymous administrator, or a channel. Say
// it with AnonymousAdmin or ChannelSender as the user.
func As(senderChat map[string]any) Option { return Field("sender_chat", senderChat) }

// Held keeps the message from the bot until Deliver: for albums and forwards that arrive late or out of order.
func Held() Option { return func(s *saying) { s.held = true } }

// Field sets a field of the message's JSON, over all that the server would put there; nil takes the field away. Odd
// kinds of messages are made of it: Field("sticker", map[string]any{…}) with an empty text.
func Field(name string, value any) Option {
	return func(s *saying) { s.m.Extra[name] = value }
}

// Say sends a message as a person and returns its id. Mentions, commands and links are marked as clients mark them. The
// bot gets it if it is in the chat and privacy mode lets it through.
func (s *Server) Say(from User, chatID int64, text string, opts ...Option) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	sy := &saying{m: &Message{From: from, Text: text, Extra: map[string]any{}}}
	for _, o := range opts {
		o(sy)
	}
	m := sy.m
	m.Entities = sy.entities()
	if m.File != nil {
		m.File = s.store(*m.File, folderOf(m))
	}
	c.place(m)
	s.add(c, m)
	if !c.private() && c.members[from.ID] == "" {
		c.members[from.ID] = "member"
	}
	if from.IsBot {
		c.lastBot = from.ID
	}
	if sy.held {
		s.touch()
		return m.ID
	}
	s.deliver(c, m, "message")
	return m.ID
}

// Deliver queues updates for messages that are in the chat already, in the order given: held ones, or any a second time
// under a new update id.
func (s *Server) Deliver(chatID int64, messages ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	for _, id := range messages {
		if m := c.message(id); m != nil {
			s.deliver(c, m, "message")
		}
	}
}

func folderOf(m *Message) string {
	if m.photo {
		return "photos"
	}
	return "documents"
}

func (sy *saying) entities() []Entity {
	var given []Entity
	for _, tm := range sy.mention {
		before, _, ok := strings.Cut(sy.m.Text, tm.word)
		if ok {
			u := tm.user
			given = append(given, Entity{Type: "text_mention", Offset: units(before), Length: units(tm.word), User: &u})
		}
	}
	return addDetected(sy.m.Text, given)
}

// place settles the topic and the thread of a message that is about to be added.
func (c *chat) place(m *Message) {
	r := c.message(m.ReplyTo)
	if r != nil && m.Topic == 0 {
		m.Topic = r.Topic
	}
	switch {
	case m.Topic != 0:
		m.thread, m.isTopic = m.Topic, true
	case r != nil && c.kind == "supergroup" && r.thread != 0:
		m.thread = r.thread
	case r != nil && c.kind == "supergroup":
		m.thread = r.ID
	}
}

// Edit changes a person's message. The same text again makes an update all the same, as it happens on Telegram.
func (s *Server) Edit(chatID int64, message int, text string, opts ...Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	m := c.message(message)
	if m == nil {
		panic("telegram: edit: no such message")
	}
	m.Text = text
	sy := &saying{m: m}
	for _, o := range opts {
		o(sy)
	}
	m.Entities, m.Edited = sy.entities(), time.Now()
	s.deliver(c, m, "edited_message")
}

// Delete removes a message as a person does. Telegram doesn't tell bots.
func (s *Server) Delete(chatID int64, message int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.known(chatID).message(message); m != nil {
		m.Deleted = true
	}
	s.touch()
}

// deliver queues a message as an update, if the bot is there to hear it.
func (s *Server) deliver(c *chat, m *Message, kind string) {
	if c.gone == "" && s.hears(c, m) {
		if c.kind == "channel" {
			kind = map[string]string{"message": "channel_post", "edited_message": "edited_channel_post"}[kind]
		}
		s.update(kind, s.wire(c, m))
	}
	s.touch()
}

// JSON returns a message as the bot would get it, for tests that build updates of their own.
func (s *Server) JSON(chatID int64, message int) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	m := c.message(message)
	if m == nil {
		panic("telegram: no such message")
	}
	raw, _ := json.Marshal(s.wire(c, m))
	return raw
}
