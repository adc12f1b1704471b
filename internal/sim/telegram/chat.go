package telegram

import (
	"maps"
	"slices"
	"time"
)

// User is a person or a bot in the Bot API's words.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username,omitempty"`
}

// wire is the user's JSON, open for more fields.
func (u User) wire() map[string]any {
	out := map[string]any{"id": u.ID, "is_bot": u.IsBot, "first_name": u.FirstName}
	if u.Username != "" {
		out["username"] = u.Username
	}
	return out
}

// chat is a place: a private chat, whose id is the person's, a basic group, a supergroup or a channel.
type chat struct {
	id       int64
	kind     string // private, group, supergroup, channel
	title    string
	user     User // of a private chat
	forum    bool
	lastID   int // of a supergroup, which counts its own messages
	messages []*Message
	members  map[int64]string // statuses by user: creator, administrator, member, left, kicked
	topics   map[int]*topic
	lastBot  int64 // the last bot that wrote here
	moved    int64 // the supergroup that this group became
	gone     string
}

// topic is a forum topic or a topic of a private chat. Its id is that of the message that made it.
type topic struct {
	name   string
	closed bool
	maker  *Message
}

func (c *chat) private() bool    { return c.kind == "private" }
func (c *chat) supergroup() bool { return c.kind == "supergroup" || c.kind == "channel" }
func (c *chat) group() bool      { return c.kind == "group" || c.kind == "supergroup" }

func (c *chat) wire() map[string]any {
	out := map[string]any{"id": c.id, "type": c.kind}
	if c.private() {
		maps.Copy(out, map[string]any{"first_name": c.user.FirstName})
		if c.user.Username != "" {
			out["username"] = c.user.Username
		}
		return out
	}
	out["title"] = c.title
	if c.forum {
		out["is_forum"] = true
	}
	return out
}

// message finds a message that is still there.
func (c *chat) message(id int) *Message {
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.ID == id && !m.Deleted })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

func (c *chat) status(user int64) string {
	if st, ok := c.members[user]; ok {
		return st
	}
	return "left"
}

// add gives a message its id and its date and puts it into the chat. Private chats and groups share one row of ids,
// each supergroup has its own (docs: message ids are unique inside a chat).
func (s *Server) add(c *chat, m *Message) {
	if c.supergroup() {
		c.lastID++
		m.ID = c.lastID
	} else {
		s.next.message++
		m.ID = s.next.message
	}
	m.Chat = c.id
	if m.Date.IsZero() {
		m.Date = time.Now()
	}
	c.messages = append(c.messages, m)
}

// known returns a chat that a test speaks of; one that was never made is the test's mistake.
func (s *Server) known(id int64) *chat {
	c, ok := s.chats[id]
	if !ok {
		panic("telegram: no such chat")
	}
	return c
}

// reach finds the chat that a call names and checks that the bot may write there.
func (s *Server) reach(p params) (*chat, error) {
	c, err := s.find(p)
	if err != nil {
		return nil, err
	}
	switch {
	case c.moved != 0:
		return nil, migrated(c.moved)
	case c.gone != "":
		return nil, forbidden("%s", c.gone)
	case !c.private() && c.status(s.bot.ID) == "restricted":
		return nil, badRequest("not enough rights to send text messages to the chat")
	}
	return c, nil
}

// find finds the chat that a call names.
func (s *Server) find(p params) (*chat, error) {
	if p.str("chat_id") == "" {
		return nil, badRequest("chat_id is empty")
	}
	id := p.num("chat_id")
	if c, ok := s.chats[id]; ok {
		return c, nil
	}
	if u, ok := s.users[id]; ok {
		return nil, s.stranger(u)
	}
	return nil, badRequest("chat not found")
}

// stranger is the refusal to write to somebody who never wrote first.
func (s *Server) stranger(u User) error {
	switch {
	case u.ID == s.bot.ID:
		return forbidden("the bot can't send messages to itself")
	case u.IsBot:
		return forbidden("bot can't send messages to bots")
	}
	return forbidden("bot can't initiate conversation with a user")
}
