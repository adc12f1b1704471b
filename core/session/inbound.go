package session

import "time"

// Call says how a message calls the bot.
type Call uint8

// The ways a message can call the bot.
const (
	CallAmbient Call = iota // it doesn't; it may be a follow-up or be heard
	CallDirect              // written in a private chat or DM
	CallMention             // names the bot
	CallReply               // replies to one of the bot's messages
	CallCommand             // a platform's command, such as a slash command
)

var callNames = [...]string{"ambient", "direct", "mention", "reply", "command"}

// String returns the name used in logs.
func (c Call) String() string {
	if int(c) < len(callNames) {
		return callNames[c]
	}
	return "unknown"
}

// Signal says that an Inbound is about another message rather than one itself.
type Signal uint8

// The kinds of signal.
const (
	SignalNone Signal = iota
	SignalEdit
	SignalDelete
	SignalButton
)

// Author is who wrote a message, as far as the platform's event tells.
type Author struct {
	ID       string `json:"id"`                 // "slack:U1", "telegram:8246"
	Name     string `json:"name,omitempty"`     // to address a person by; may be empty
	Bot      bool   `json:"bot,omitempty"`      // another bot
	Guest    bool   `json:"guest,omitempty"`    // not a full member
	External bool   `json:"external,omitempty"` // of another workspace
	Known    bool   `json:"known,omitempty"`    // the fields above are settled; else People is asked before Submit
}

// Attachment refers to a file; its bytes stay on the platform until the turn needs them.
type Attachment struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes as the platform says; 0: unknown
	URL  string `json:"url,omitempty"`
}

// Inbound is one platform event, translated.
type Inbound struct {
	Key         string        `json:"key"`
	Address     Address       `json:"addr"`
	Place       string        `json:"place,omitempty"` // the channel or group as the configuration names it; empty in a private chat
	Author      Author        `json:"author"`
	Call        Call          `json:"call,omitempty"`
	Elsewhere   bool          `json:"else,omitempty"` // opens with somebody else's mention: never for the bot
	Order       string        `json:"order"`          // sorts the messages of one address: Slack's ts, Telegram's message id in fixed width
	Text        string        `json:"text,omitempty"`
	Attachments []Attachment  `json:"files,omitempty"`
	At          time.Time     `json:"at"` // when it was written, by the platform's clock
	Message     string        `json:"msg,omitempty"`
	Signal      Signal        `json:"sig,omitempty"`
	Target      string        `json:"target,omitempty"` // of a signal: the message meant
	Group       string        `json:"group,omitempty"`  // album, cut paste, comment with forwards
	SettleFor   time.Duration `json:"settle,omitempty"`
	ReplyURL    string        `json:"reply,omitempty"` // a capability of 30 minutes; never printed
}

// ID returns the entry's id.
func (in Inbound) ID() EntryID { return EntryID{Address: in.Address, Key: in.Key} }

// String names the message without its text or its reply URL, for logs.
func (in Inbound) String() string { return in.ID().String() + " " + in.Call.String() }
