package telegram

import (
	"context"
	"strings"
)

// method is one of the API's methods: its name as the docs spell it, and what it does.
type method struct {
	name string
	run  func(s *Server, ctx context.Context, p params) (any, error)
}

// methods holds every method the server knows, by its lower-case name. To add one is to add a line.
var methods = table(
	method{"getMe", locked((*Server).getMe)},
	method{"getUpdates", (*Server).getUpdates},
	method{"setWebhook", locked((*Server).setWebhook)},
	method{"deleteWebhook", locked((*Server).deleteWebhook)},
	method{"getWebhookInfo", locked((*Server).getWebhookInfo)},
	method{"sendMessage", locked((*Server).sendMessage)},
	method{"sendDocument", locked((*Server).sendDocument)},
	method{"editMessageText", locked((*Server).editMessageText)},
	method{"editMessageReplyMarkup", locked((*Server).editMessageReplyMarkup)},
	method{"deleteMessage", locked((*Server).deleteMessage)},
	method{"sendChatAction", locked((*Server).sendChatAction)},
	method{"setMessageReaction", locked((*Server).setMessageReaction)},
	method{"answerCallbackQuery", locked((*Server).answerCallbackQuery)},
	method{"setMyCommands", locked((*Server).setMyCommands)},
	method{"getMyCommands", locked((*Server).getMyCommands)},
	method{"deleteMyCommands", locked((*Server).deleteMyCommands)},
	method{"getFile", locked((*Server).getFile)},
	method{"getChat", locked((*Server).getChat)},
	method{"getChatMember", locked((*Server).getChatMember)},
	method{"getChatAdministrators", locked((*Server).getChatAdministrators)},
)

func table(ms ...method) map[string]method {
	out := map[string]method{}
	for _, m := range ms {
		out[strings.ToLower(m.name)] = m
	}
	return out
}

// locked makes a method of a function that needs the lock for its whole, short run.
func locked(f func(*Server, params) (any, error)) func(*Server, context.Context, params) (any, error) {
	return func(s *Server, _ context.Context, p params) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return f(s, p)
	}
}

// canonical spells a method as the docs do; names are case-insensitive.
func canonical(name string) string {
	if m, ok := methods[strings.ToLower(name)]; ok {
		return m.name
	}
	return name
}

func (s *Server) getMe(params) (any, error) {
	me := s.bot.wire()
	me["can_join_groups"] = true
	me["can_read_all_group_messages"] = !s.opts.Privacy
	me["supports_inline_queries"] = false
	me["has_topics_enabled"] = s.opts.Topics
	return me, nil
}
