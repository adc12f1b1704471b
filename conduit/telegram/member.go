package telegram

import "errors"

// member is a change of the bot's own standing in a chat (docs: ChatMemberUpdated).
type member struct {
	Chat chat   `json:"chat"`
	From user   `json:"from"`
	Date int64  `json:"date"`
	Old  status `json:"old_chat_member"`
	New  status `json:"new_chat_member"`
}

type status struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // of somebody restricted
}

// in reports whether somebody of this status is in the chat: in a private chat, whether the bot isn't blocked.
func (s status) in() bool {
	switch s.Status {
	case "left", "kicked":
		return false
	case "restricted":
		return s.IsMember
	}
	return true
}

// standing says whether the bot may be in a chat, and who decided it.
type standing struct {
	chat int64
	kind string // of the chat, as Telegram calls it
	in   bool
	was  bool
	name string // the chat's title, or the person's name
	by   user
	date int64
}

// event translates a change of standing. It is no message, whatever becomes of it.
func (m *member) event() (event, error) {
	if m.Chat.ID == 0 || m.New.Status == "" {
		return event{}, errors.New("my_chat_member: it lacks a chat or a status")
	}
	name := m.Chat.Title
	if name == "" {
		name = m.From.name()
	}
	s := standing{chat: m.Chat.ID, kind: m.Chat.Type, in: m.New.in(), was: m.Old.in(), name: name, by: m.From, date: m.Date}
	return event{ignored: ignoredMember, standing: &s}, nil
}

// move is a group's becoming a supergroup (docs: Message, migrate_to_chat_id).
type move struct {
	from, to int64
	date     int64
}

// moves reads the service messages that tell of it: one in the old chat, one in the new.
func (m *message) moves() *move {
	switch {
	case m.MigrateTo != 0:
		return &move{m.Chat.ID, m.MigrateTo, m.Date}
	case m.MigrateFrom != 0:
		return &move{m.MigrateFrom, m.Chat.ID, m.Date}
	}
	return nil
}
