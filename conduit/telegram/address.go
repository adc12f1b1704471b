package telegram

import (
	"fmt"
	"strconv"
	"strings"

	"orebot/core/session"
)

// Name is what the platform's addresses begin with.
const Name = "telegram"

// place is where a conversation is held: a chat, and in it a topic or 0. Ids of private chats are positive, those of groups negative,
// up to 52 bits (docs: Chat.id).
type place struct {
	chat  int64
	topic int64
}

// address returns the text form, which is on disk: "telegram:CHAT" or "telegram:CHAT/TOPIC".
func (p place) address() session.Address {
	a := idOf(p.chat)
	if p.topic != 0 {
		a += "/" + decimal(p.topic)
	}
	return session.Address(a)
}

// private reports whether the place is a chat with one person.
func (p place) private() bool { return p.chat > 0 }

// parseAddress reads what address wrote.
func parseAddress(a session.Address) (place, error) {
	chat, topic, inTopic := strings.Cut(a.Place(), "/")
	var p place
	var err error
	if p.chat, err = strconv.ParseInt(chat, 10, 64); err == nil && inTopic {
		p.topic, err = strconv.ParseInt(topic, 10, 64)
	}
	if err != nil || p.address() != a {
		return place{}, fmt.Errorf("telegram: %q is not an address of Telegram", a)
	}
	return p, nil
}

// idOf names a person or a chat as the configuration and the store do.
func idOf(id int64) string { return Name + ":" + decimal(id) }

// keyOf names a message by its content's place on Telegram: message ids count within a chat, whatever the topic.
func keyOf(chat, message int64) string { return decimal(chat) + "/" + decimal(message) }

// orderOf sorts messages of one chat as text. Message ids have 31 bits (server: MessageId).
func orderOf(message int64) string { return fmt.Sprintf("%012d", message) }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
