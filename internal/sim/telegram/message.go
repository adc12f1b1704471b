package telegram

import (
	"encoding/json"
	"time"
)

// Message is a message as a person finds it in a chat.
type Message struct {
	ID       int
	Chat     int64
	Topic    int // 0 outside topics and in General
	From     User
	Date     time.Time
	Edited   time.Time // zero: never
	ReplyTo  int       // 0: none; the implicit reply of a topic isn't one
	Text     string    // or the caption of a file
	Entities []Entity
	File     *File // a document or photo
	Silent   bool
	Deleted  bool
	Reaction string          // the bot's
	Keyboard json.RawMessage // the inline keyboard
	Service  string          // what kind of service message it is
	Extra    map[string]any  // further fields of its JSON, or in place of others

	thread  int // message_thread_id: the topic, or the root of a chain of replies
	isTopic bool
	photo   bool
}

// wire is the message's JSON as the bot gets it, with the message that it replies to, but not what that one replies to.
func (s *Server) wire(c *chat, m *Message) map[string]any {
	out := s.wireAlone(c, m)
	if r := s.replied(c, m); r != nil {
		out["reply_to_message"] = s.wireAlone(c, r)
	}
	overlay(out, m.Extra)
	return out
}

// replied is the message that m replies to. In a forum topic, what replies to nothing replies to the message that made
// the topic; private chats with topics have no such thing (source: JsonMessage).
func (s *Server) replied(c *chat, m *Message) *Message {
	if m.ReplyTo != 0 {
		return c.message(m.ReplyTo)
	}
	if t, ok := c.topics[m.Topic]; ok && c.forum && m != t.maker {
		return t.maker
	}
	return nil
}

func (s *Server) wireAlone(c *chat, m *Message) map[string]any {
	out := map[string]any{"message_id": m.ID, "chat": c.wire(), "date": m.Date.Unix()}
	if c.kind == "channel" {
		out["sender_chat"] = c.wire()
	} else {
		out["from"] = m.From.wire()
	}
	if m.thread != 0 {
		out["message_thread_id"] = m.thread
	}
	if m.isTopic {
		out["is_topic_message"] = true
	}
	if !m.Edited.IsZero() {
		out["edit_date"] = m.Edited.Unix()
	}
	if m.Keyboard != nil {
		out["reply_markup"] = m.Keyboard
	}
	m.wireContent(out)
	overlay(out, m.Extra)
	return out
}

// wireContent adds text or file; the text of a file is its caption.
func (m *Message) wireContent(out map[string]any) {
	text, entities := "text", "entities"
	if m.File != nil {
		text, entities = "caption", "caption_entities"
		m.File.wire(out, m.photo)
	}
	if m.Text != "" {
		out[text] = m.Text
	}
	if len(m.Entities) > 0 {
		out[entities] = m.Entities
	}
}

// Chat returns the messages of a chat, the people's and the bot's, deleted ones included, in their order.
func (s *Server) Chat(id int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if c, ok := s.chats[id]; ok {
		for _, m := range c.messages {
			out = append(out, *m)
		}
	}
	return out
}

// overlay puts fields over a message's JSON; a nil takes the field away.
func overlay(out, fields map[string]any) {
	for k, v := range fields {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = v
	}
}
