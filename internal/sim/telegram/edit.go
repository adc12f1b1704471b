package telegram

import (
	"bytes"
	"reflect"
	"time"
)

const notModified = "message is not modified: specified new message content and reply markup are exactly the same as " +
	"a current content and reply markup of the message"

func (s *Server) editMessageText(p params) (any, error) {
	if p.str("text") == "" {
		return nil, badRequest("message text is empty")
	}
	t, err := readText(p, "text", "")
	if err != nil {
		return nil, err
	}
	if t.text == "" {
		return nil, badRequest("text must be non-empty")
	}
	keyboard, err := readKeyboard(p)
	if err != nil {
		return nil, err
	}
	c, m, err := s.own(p, "edit")
	switch {
	case err != nil:
		return nil, err
	case m.File != nil:
		return nil, badRequest("there is no text in the message to edit")
	}
	if err := t.check(maxText, "MESSAGE_TOO_LONG"); err != nil {
		return nil, err
	}
	if m.Text == t.text && sameEntities(m.Entities, t.entities) && bytes.Equal(m.Keyboard, keyboard) {
		return nil, badRequest(notModified)
	}
	if err := s.throttle(c); err != nil {
		return nil, err
	}
	m.Text, m.Entities, m.Keyboard, m.Edited = t.text, t.entities, keyboard, time.Now()
	s.see(Line{Action: "edit", Chat: c.id, Topic: m.Topic, Message: m.ID, Text: m.Text, Entities: m.Entities,
		Keyboard: keyboard, Dropped: t.dropped, Params: p.shown()})
	return s.wire(c, m), nil
}

func sameEntities(a, b []Entity) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func (s *Server) editMessageReplyMarkup(p params) (any, error) {
	keyboard, err := readKeyboard(p)
	if err != nil {
		return nil, err
	}
	c, m, err := s.own(p, "edit")
	if err != nil {
		return nil, err
	}
	if bytes.Equal(m.Keyboard, keyboard) {
		return nil, badRequest(notModified)
	}
	m.Keyboard, m.Edited = keyboard, time.Now()
	s.see(Line{Action: "buttons", Chat: c.id, Topic: m.Topic, Message: m.ID, Keyboard: keyboard, Params: p.shown()})
	return s.wire(c, m), nil
}

// own finds the bot's own message that a call wants to change.
func (s *Server) own(p params, what string) (*chat, *Message, error) {
	c, err := s.reach(p)
	if err != nil {
		return nil, nil, err
	}
	m := c.message(int(p.num("message_id")))
	if m == nil {
		return nil, nil, badRequest("message to %s not found", what)
	}
	if m.From.ID != s.bot.ID {
		return nil, nil, badRequest("message can't be %sed", what)
	}
	return c, m, nil
}

// deleteMessage removes the bot's own message, anything in a private chat, and anything in a chat that the bot
// administers, up to 48 hours old.
func (s *Server) deleteMessage(p params) (any, error) {
	c, err := s.reach(p)
	if err != nil {
		return nil, err
	}
	m := c.message(int(p.num("message_id")))
	if m == nil {
		return nil, badRequest("message to delete not found")
	}
	admin := c.status(s.bot.ID) == "administrator"
	mine := m.From.ID == s.bot.ID || c.private()
	if !admin && (!mine || time.Since(m.Date) > 48*time.Hour) {
		return nil, badRequest("message can't be deleted")
	}
	m.Deleted = true
	s.see(Line{Action: "delete", Chat: c.id, Topic: m.Topic, Message: m.ID, Params: p.shown()})
	return true, nil
}
