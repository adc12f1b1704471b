package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"orebot/core/session"
)

// press is a press of a button under a message (docs: CallbackQuery). What it says may be forged. The message may be inaccessible,
// which leaves its chat and its id, or absent.
type press struct {
	ID      string   `json:"id"`
	From    *user    `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

// buttonData is what the bot's own buttons say: the command that they stand for.
var buttonData = regexp.MustCompile(`^c:([a-z]{1,32})$`)

// event translates a press. Whatever it is, it must be answered; only the bot's own buttons mean something.
func (p *press) event(me Me) (event, error) {
	ev := event{ignored: ignoredCallback, callback: p.ID}
	data := buttonData.FindStringSubmatch(p.Data)
	if data == nil || p.From == nil || p.From.ID == 0 || p.ID == "" || p.Message == nil || p.Message.Chat.ID == 0 || p.Message.Thread < 0 {
		return ev, nil
	}
	m := p.Message
	where := m.place()
	if m.lost(me) {
		ev.said = textLost
		return ev, nil
	}
	in := session.Inbound{
		Key: decimal(m.Chat.ID) + "/press/" + nameable(p.ID), Address: where.address(), Author: p.From.author(), Call: session.CallCommand,
		Order: orderOf(max(m.ID, 0)), Signal: session.SignalButton, Action: data[1],
	}
	if where.private() {
		in.Call = session.CallDirect
	} else {
		in.Place = idOf(m.Chat.ID)
	}
	if m.ID > 0 {
		in.Target, in.TargetKey = decimal(m.ID), keyOf(m.Chat.ID, m.ID)
	}
	return event{inbound: in, callback: p.ID, where: where}, nil
}

// textLost is what a press hears whose conversation can't be told.
const textLost = "That message is gone; please write the command."

// lost reports whether nobody knows in which conversation the message of a press stood: one that is inaccessible, which has no date, doesn't
// say of which topic it was.
func (m *message) lost(me Me) bool {
	return m.Date == 0 && !m.IsTopic && (m.Chat.Forum || me.Topics && m.place().private())
}

// nameable returns an id as part of a key, or a digest of one that is no word of a key's: Telegram's are numbers, and no law of theirs.
func nameable(id string) string {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	}
	if len(id) <= 64 && !strings.ContainsFunc(id, odd) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "odd-" + hex.EncodeToString(sum[:16])
}
