package telegram

import (
	"slices"
	"strings"
)

// chatActions are what a bot can be seen doing (docs: sendChatAction).
var chatActions = strings.Fields("cancel typing upload_photo record_video upload_video record_voice upload_voice " +
	"record_audio upload_audio upload_document choose_sticker find_location record_video_note upload_video_note")

// sendChatAction shows what the bot does. The thread id isn't checked (source: Client.cpp).
func (s *Server) sendChatAction(p params) (any, error) {
	action := strings.ToLower(p.str("action"))
	if !slices.Contains(chatActions, action) {
		return nil, badRequest("wrong parameter action in request")
	}
	c, err := s.reach(p)
	if err != nil {
		return nil, err
	}
	s.see(Line{Action: "action", Chat: c.id, Topic: int(p.num("message_thread_id")), Text: action, Params: p.shown()})
	return true, nil
}

// reactions are the emoji that the server takes, without variation selectors (docs: ReactionTypeEmoji).
var reactions = strings.Fields("❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 " +
	"💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡")

// setMessageReaction sets or, with an empty list, takes back the bot's one reaction.
func (s *Server) setMessageReaction(p params) (any, error) {
	var list []struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	if _, err := p.object("reaction", &list); err != nil {
		return nil, err
	}
	c, err := s.reach(p)
	if err != nil {
		return nil, err
	}
	m := c.message(int(p.num("message_id")))
	if m == nil {
		return nil, badRequest("message to react not found")
	}
	emoji := ""
	if len(list) > 0 {
		emoji = list[0].Emoji
	}
	switch {
	case len(list) > 1:
		return nil, badRequest("REACTIONS_TOO_MANY")
	case m.Service != "", emoji != "" && !slices.Contains(reactions, emoji), len(list) == 1 && list[0].Type != "emoji":
		return nil, badRequest("REACTION_INVALID")
	}
	m.Reaction = emoji
	s.see(Line{Action: "react", Chat: c.id, Topic: m.Topic, Message: m.ID, Text: emoji, Params: p.shown()})
	return true, nil
}
