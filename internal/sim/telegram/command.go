package telegram

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Command is an entry of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

var commandShape = regexp.MustCompile(`^[a-z0-9_]+$`)

// scope names where a menu is shown.
type scope struct {
	Type string `json:"type"`
	Chat int64  `json:"chat_id"`
	User int64  `json:"user_id"`
}

// scopeOf makes the key of a menu: type, chat, user and language.
func scopeOf(p params) (string, error) {
	sc := scope{Type: "default"}
	if _, err := p.object("scope", &sc); err != nil {
		return "", badRequest("can't parse BotCommandScope: expected an Object")
	}
	switch sc.Type {
	case "default", "all_private_chats", "all_group_chats", "all_chat_administrators":
	case "chat", "chat_administrators", "chat_member":
		if sc.Chat == 0 {
			return "", badRequest("chat not found")
		}
	default:
		return "", badRequest("can't parse BotCommandScope: Unsupported type specified")
	}
	return fmt.Sprintf("%s/%d/%d/%s", sc.Type, sc.Chat, sc.User, p.str("language_code")), nil
}

func (s *Server) setMyCommands(p params) (any, error) {
	var list []Command
	if _, err := p.object("commands", &list); err != nil {
		return nil, badRequest("can't parse commands: expected an Array of BotCommand")
	}
	key, err := scopeOf(p)
	if err != nil {
		return nil, err
	}
	if len(list) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for i, c := range list {
		list[i].Command = strings.TrimPrefix(c.Command, "/")
		if err := list[i].check(); err != nil {
			return nil, err
		}
	}
	s.commands[key] = list
	s.see(Line{Action: "commands", Text: key, Params: p.shown()})
	return true, nil
}

func (c Command) check() error {
	switch {
	case c.Command == "":
		return badRequest("command must be non-empty")
	case utf8.RuneCountInString(c.Command) > 32:
		return badRequest("command length must not exceed 32")
	case c.Description == "":
		return badRequest("command description must be non-empty")
	case utf8.RuneCountInString(c.Description) > 256:
		return badRequest("command description length must not exceed 256")
	case !commandShape.MatchString(c.Command):
		return badRequest("BOT_COMMAND_INVALID")
	}
	return nil
}

// getMyCommands returns the menu of exactly this scope and language, empty if none was set.
func (s *Server) getMyCommands(p params) (any, error) {
	key, err := scopeOf(p)
	if err != nil {
		return nil, err
	}
	return append([]Command{}, s.commands[key]...), nil
}

func (s *Server) deleteMyCommands(p params) (any, error) {
	key, err := scopeOf(p)
	if err != nil {
		return nil, err
	}
	delete(s.commands, key)
	return true, nil
}
