package telegram

import (
	"cmp"
	"slices"
	"time"
)

// setBotStatus changes the bot's status in a chat and tells it with my_chat_member.
func (s *Server) setBotStatus(c *chat, by User, status string) {
	old := c.status(s.bot.ID)
	if old == status {
		return
	}
	c.members[s.bot.ID] = status
	s.update("my_chat_member", map[string]any{
		"chat": c.wire(), "from": by.wire(), "date": time.Now().Unix(),
		"old_chat_member": memberWire(s.bot, old), "new_chat_member": memberWire(s.bot, status),
	})
}

func memberWire(u User, status string) map[string]any {
	out := map[string]any{"user": u.wire(), "status": status}
	switch status {
	case "kicked":
		out["until_date"] = 0
	case "administrator":
		out["can_be_edited"], out["is_anonymous"], out["can_manage_chat"] = false, false, true
	case "creator":
		out["is_anonymous"] = false
	case "restricted":
		out["is_member"], out["can_send_messages"] = true, false
	}
	return out
}

func (s *Server) getChat(p params) (any, error) {
	c, err := s.visible(p)
	if err != nil {
		return nil, err
	}
	out := c.wire()
	out["accent_color_id"], out["max_reaction_count"] = 0, 11
	return out, nil
}

// visible finds a chat that the bot may look at.
func (s *Server) visible(p params) (*chat, error) {
	c, err := s.find(p)
	if err != nil {
		return nil, badRequest("chat not found")
	}
	if !c.private() && c.gone != "" {
		return nil, forbidden("%s", c.gone)
	}
	return c, nil
}

func (s *Server) getChatMember(p params) (any, error) {
	c, err := s.visible(p)
	if err != nil {
		return nil, err
	}
	u, ok := s.users[p.num("user_id")]
	if !ok {
		return nil, badRequest("user not found")
	}
	if c.private() && u.ID == c.id {
		return memberWire(u, "member"), nil
	}
	return memberWire(u, c.status(u.ID)), nil
}

func (s *Server) getChatAdministrators(p params) (any, error) {
	c, err := s.visible(p)
	if err != nil {
		return nil, err
	}
	if c.private() {
		return nil, badRequest("there are no administrators in the private chat")
	}
	var admins []User
	for id, status := range c.members {
		if u, ok := s.users[id]; ok && (status == "creator" || status == "administrator") {
			admins = append(admins, u)
		}
	}
	slices.SortFunc(admins, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	out := []map[string]any{}
	for _, u := range admins {
		out = append(out, memberWire(u, c.status(u.ID)))
	}
	return out, nil
}

// Migrate turns a basic group into a supergroup and returns the new chat's id. Both chats get their service message,
// members move along, message ids don't; writing to the old chat is refused with the new id.
func (s *Server) Migrate(chatID int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known(chatID)
	c := s.addSupergroup(old.title, "supergroup", false)
	for id, status := range old.members {
		c.members[id] = status
	}
	old.moved = c.id
	s.service(old, AnonymousAdmin, "migrate_to_chat_id", c.id)
	s.service(c, AnonymousAdmin, "migrate_from_chat_id", old.id)
	return c.id
}

// service puts a service message into a chat. All of them reach the bot.
func (s *Server) service(c *chat, from User, field string, value any) *Message {
	m := &Message{From: from, Service: field, Extra: map[string]any{field: value}}
	if from == AnonymousAdmin {
		m.Extra["sender_chat"] = c.wire()
	}
	s.add(c, m)
	s.deliver(c, m, "message")
	return m
}

// Service posts a service message such as new_chat_members or pinned_message with the value of its field.
func (s *Server) Service(chatID int64, from User, field string, value any) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service(s.known(chatID), from, field, value).ID
}
