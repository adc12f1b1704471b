package telegram

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// query is a press of a button that waits for its answer.
type query struct {
	chat     int64
	at       time.Time
	answered bool
}

// Callback presses a button under a message, or claims to: the data is what the person's client says it is. It returns
// the query's id. Of a message that is gone the bot gets only its place, with date 0.
func (s *Server) Callback(u User, chatID int64, message int, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	var body any = map[string]any{"chat": c.wire(), "message_id": message, "date": 0}
	if m := c.message(message); m != nil {
		body = s.wire(c, m)
	}
	return s.press(u, chatID, map[string]any{"message": body, "data": data})
}

// InlineCallback presses a button under a message that was sent in inline mode: there is no message, only its id.
func (s *Server) InlineCallback(u User, inlineMessage, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.press(u, 0, map[string]any{"inline_message_id": inlineMessage, "data": data})
}

func (s *Server) press(u User, chatID int64, fields map[string]any) string {
	s.next.callback++
	id := strconv.Itoa(7000000 + s.next.callback)
	fields["id"], fields["from"], fields["chat_instance"] = id, u.wire(), "sim"+strconv.FormatInt(chatID, 10)
	s.callback[id] = &query{chat: chatID, at: time.Now()}
	s.update("callback_query", fields)
	return id
}

// answerCallbackQuery ends the button's spinning, once and in time.
func (s *Server) answerCallbackQuery(p params) (any, error) {
	if utf8.RuneCountInString(p.str("text")) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	q, ok := s.callback[p.str("callback_query_id")]
	if !ok || q.answered || time.Since(q.at) > keepCallbacks {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	q.answered = true
	s.see(Line{Action: "answer", Chat: q.chat, Text: p.str("text"), Params: p.shown()})
	return true, nil
}
