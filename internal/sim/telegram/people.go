package telegram

import (
	"fmt"
	"time"
)

// The accounts that Telegram itself uses as senders (docs: Message.from and sender_chat).
var (
	AnonymousAdmin = User{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
	ChannelSender  = User{ID: 136817688, IsBot: true, FirstName: "Channel", Username: "Channel_Bot"}
	ServiceSender  = User{ID: 777000, FirstName: "Telegram"}
)

// AddUser makes a person. The username may be empty.
func (s *Server) AddUser(firstName, username string) User {
	return s.addUser(firstName, username, false)
}

// AddBot makes another bot, whose messages in groups this bot may see.
func (s *Server) AddBot(firstName, username string) User { return s.addUser(firstName, username, true) }

func (s *Server) addUser(firstName, username string, bot bool) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next.user++
	u := User{ID: int64(s.next.user), IsBot: bot, FirstName: firstName, Username: username}
	s.users[u.ID] = u
	return u
}

// PrivateChat opens the person's private chat with the bot and returns its id, which is the person's. Until then the
// bot can't write to them.
func (s *Server) PrivateChat(u User) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.chats[u.ID]; !ok {
		s.chats[u.ID] = s.newChat(u.ID, "private", "")
		s.chats[u.ID].user = u
	}
	return u.ID
}

func (s *Server) newChat(id int64, kind, title string) *chat {
	return &chat{id: id, kind: kind, title: title, topics: map[int]*topic{},
		members: map[int64]string{s.bot.ID: "member"}}
}

// AddGroup makes a basic group with the bot in it and returns its id.
func (s *Server) AddGroup(title string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next.group--
	id := int64(s.next.group)
	s.chats[id] = s.newChat(id, "group", title)
	return id
}

// AddSupergroup makes a supergroup with the bot in it and returns its id. A forum has topics besides General.
func (s *Server) AddSupergroup(title string, forum bool) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addSupergroup(title, "supergroup", forum).id
}

// AddChannel makes a channel with the bot in it and returns its id.
func (s *Server) AddChannel(title string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addSupergroup(title, "channel", false).id
}

func (s *Server) addSupergroup(title, kind string, forum bool) *chat {
	s.next.supergroup++
	id := -1001000000000 - int64(s.next.supergroup)
	c := s.newChat(id, kind, title)
	c.forum, c.lastID = forum, 1 // message 1 is that of its making, and no topic's id
	s.chats[id] = c
	return c
}

// AddTopic makes a topic in a forum or in a private chat and returns its id. In a forum a service message announces it,
// which every later message of the topic carries as reply_to_message. Its maker is the first of by, or Telegram's own
// account: give Bot for the topic that the bot made itself.
func (s *Server) AddTopic(chatID int64, name string, by ...User) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	m := &Message{From: ServiceSender, Service: "forum_topic_created", isTopic: true,
		Extra: map[string]any{"forum_topic_created": map[string]any{"name": name, "icon_color": 7322096}}}
	if len(by) > 0 {
		m.From = by[0]
	}
	s.add(c, m)
	m.Topic, m.thread = m.ID, m.ID
	c.topics[m.ID] = &topic{name: name, maker: m}
	s.deliver(c, m, "message")
	return m.ID
}

// CloseTopic closes a topic: writing there is refused.
func (s *Server) CloseTopic(chatID int64, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.known(chatID).topics[id]; ok {
		t.closed = true
	}
}

// DeleteTopic removes a topic: it isn't found any more.
func (s *Server) DeleteTopic(chatID int64, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known(chatID).topics, id)
}

// Promote gives a person, or the bot, a status in a chat: creator, administrator, member, restricted, left. A bot that
// is an administrator hears everything, privacy mode or not.
func (s *Server) Promote(chatID int64, u User, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	if u.ID == s.bot.ID {
		if status != "left" && status != "kicked" {
			c.gone = "" // who had thrown it out lets it in again
		}
		s.setBotStatus(c, ServiceSender, status)
		return
	}
	c.members[u.ID] = status
}

// Block is what a person does who blocks the bot.
func (s *Server) Block(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar(s.known(u.ID), u, "bot was blocked by the user", "kicked")
}

// Unblock undoes Block.
func (s *Server) Unblock(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar(s.known(u.ID), u, "", "member")
}

// Kick removes the bot from a group, supergroup or channel for good.
func (s *Server) Kick(chatID int64, by User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	s.bar(c, by, fmt.Sprintf("bot was kicked from the %s chat", c.kind), "kicked")
}

// Return takes the bot back into a chat that it was kicked from or has left.
func (s *Server) Return(chatID int64, by User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar(s.known(chatID), by, "", "member")
}

// Leave removes the bot from a chat without a ban.
func (s *Server) Leave(chatID int64, by User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.known(chatID)
	s.bar(c, by, fmt.Sprintf("bot is not a member of the %s chat", c.kind), "left")
}

// Deactivate is the end of a person's account; no update tells of it.
func (s *Server) Deactivate(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known(u.ID).gone = "user is deactivated"
}

// DeleteGroup is the end of a group; no update tells of it.
func (s *Server) DeleteGroup(chatID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known(chatID).gone = "the group chat was deleted"
}

// bar shuts the bot out with a refusal's text, or lets it in with an empty one.
func (s *Server) bar(c *chat, by User, text, status string) {
	c.gone = text
	s.setBotStatus(c, by, status)
}

// React is a person's reaction to a message; an empty one takes it back. Only a bot that asked for message_reaction hears of it.
func (s *Server) React(u User, chatID int64, message int, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := []any{}
	if emoji != "" {
		now = append(now, map[string]any{"type": "emoji", "emoji": emoji})
	}
	s.update("message_reaction", map[string]any{"chat": s.known(chatID).wire(), "message_id": message, "user": u.wire(),
		"date": time.Now().Unix(), "old_reaction": []any{}, "new_reaction": now})
}
