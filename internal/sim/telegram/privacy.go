package telegram

import "strings"

// SetPrivacy switches privacy mode, as BotFather does. (The real one needs the bot to be added again; this one doesn't.)
func (s *Server) SetPrivacy(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Privacy = on
}

// hears tells whether the bot gets a message. With privacy mode on, it gets in a group: service messages, replies to its
// own, mentions of its username, commands with its name, bare commands if it was the last bot to write there, and what
// was sent through it (docs: Features, privacy mode). Administrators hear everything.
func (s *Server) hears(c *chat, m *Message) bool {
	if !c.group() || !s.opts.Privacy || c.status(s.bot.ID) == "administrator" || m.Service != "" {
		return true
	}
	if r := c.message(m.ReplyTo); r != nil && r.From.ID == s.bot.ID {
		return true
	}
	if via, ok := m.Extra["via_bot"].(map[string]any); ok && via["id"] == s.bot.ID {
		return true
	}
	for _, e := range m.Entities {
		if s.means(c, e.Type, e.Of(m.Text)) {
			return true
		}
	}
	return false
}

// means tells whether a mention or a command means this bot.
func (s *Server) means(c *chat, kind, word string) bool {
	switch kind {
	case "mention":
		return strings.EqualFold(word, "@"+s.bot.Username)
	case "bot_command":
		_, name, named := strings.Cut(word, "@")
		if !named {
			return c.lastBot == s.bot.ID
		}
		return strings.EqualFold(name, s.bot.Username)
	}
	return false
}
