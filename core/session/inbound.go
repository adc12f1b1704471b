package session

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

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
	Handle   string `json:"handle,omitempty"`   // the name to mention them by, without the "@"; may be empty
	Bot      bool   `json:"bot,omitempty"`      // another bot
	Guest    bool   `json:"guest,omitempty"`    // not a full member
	External bool   `json:"external,omitempty"` // of another workspace
	Admin    bool   `json:"admin,omitempty"`    // administers the group that the message was written in
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

// QuoteKind says how a message refers to another one.
type QuoteKind string

// The kinds of Quote.
const (
	QuoteReply   QuoteKind = "reply"   // it replies to that message
	QuotePart    QuoteKind = "part"    // it replies to the quoted part of that message
	QuoteForward QuoteKind = "forward" // it passes that message on; the text is the forwarded one
)

// Quote is another message that a message refers to, as context for the model.
type Quote struct {
	Kind   QuoteKind `json:"kind"`
	Author string    `json:"author,omitempty"` // a name for people, not an id
	Own    bool      `json:"own,omitempty"`    // the bot wrote it
	Text   string    `json:"text,omitempty"`
}

// Inbound is one platform event, translated.
//
// A signal is about another message: Target and TargetKey name it, and Key names the event itself, the time of an edit included. An
// edit carries what a fresh message would, as the message reads now: text, attachments, quotes, how it calls the bot, and the Author,
// Place, Order, Message and At of the message itself, so that it can stand in for one that never came. A deletion needs no Author.
// A button's Author is who pressed it, and Target is the message that shows it; it is answered like the command in Action.
type Inbound struct {
	Key         string        `json:"key"`
	Address     Address       `json:"addr"`
	Place       string        `json:"place,omitempty"` // the channel or group as the configuration names it; empty in a private chat
	Author      Author        `json:"author"`
	Call        Call          `json:"call,omitempty"`
	Followed    bool          `json:"foll,omitempty"` // it calls nobody, and is for the bot, since that follows the thread; Accept finds out
	Elsewhere   bool          `json:"else,omitempty"` // opens with somebody else's mention: never for the bot
	Order       string        `json:"order"`          // sorts the messages of one address: Slack's ts, Telegram's message id in fixed width
	Text        string        `json:"text,omitempty"`
	Attachments []Attachment  `json:"files,omitempty"`
	At          time.Time     `json:"at"` // when it was written, by the platform's clock
	Message     string        `json:"msg,omitempty"`
	Signal      Signal        `json:"sig,omitempty"`
	Target      string        `json:"target,omitempty"` // of a signal: the message meant
	TargetKey   string        `json:"tkey,omitempty"`   // of a signal: the Key that the message meant has, or would have, at this address
	Version     string        `json:"ver,omitempty"`    // of an edit: sorts the edits of a message, such as Slack's edited.ts; empty: as they come
	Action      string        `json:"action,omitempty"` // of SignalButton: the command that the button stands for
	Here        bool          `json:"here,omitempty"`   // of a stop: only what was asked at its own address, not at linked ones
	Group       string        `json:"group,omitempty"`  // album, cut paste, comment with forwards: one turn
	SettleFor   time.Duration `json:"settle,omitempty"` // how long after At the rest of the Group may still come
	Continues   bool          `json:"cont,omitempty"`   // goes on, without a gap, where the message before it in the Group was cut
	Quotes      []Quote       `json:"quotes,omitempty"` // what the message refers to
	Mentions    []string      `json:"names,omitempty"`  // people whom the texts mention by "@" and this id, until a Namer puts their names there
	ReplyURL    string        `json:"reply,omitempty"`  // a capability of 30 minutes; never printed
}

// ID returns the entry's id.
func (in Inbound) ID() EntryID { return EntryID{Address: in.Address, Key: in.Key} }

// String names the message without its text or its reply URL, for logs.
func (in Inbound) String() string { return in.ID().String() + " " + in.Call.String() }

// Limits of an Inbound. An entry has room beside it for what is noted later.
const (
	maxInboundBytes = MaxValueBytes - 16<<10
	maxID           = 1024
	maxOrder        = 255
)

// valid reports whether the message can be kept under its names, as they are.
func (in Inbound) valid() bool {
	switch in.Signal {
	case SignalEdit, SignalDelete:
		if in.TargetKey == "" || in.TargetKey == in.Key {
			return false
		}
	case SignalButton:
		if in.Action == "" {
			return false
		}
	}
	return in.Address.Valid() && in.Key != "" && (in.Author.ID != "" || in.Signal == SignalDelete) && len(in.Order) <= maxOrder &&
		nameable(string(in.Address), in.Key, in.Author.ID, in.Order, in.Message, in.Place, in.Target, in.TargetKey)
}

// nameable reports whether texts survive being part of a key, and of its record.
func nameable(texts ...string) bool {
	for _, s := range texts {
		if len(s) > maxID || !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			return false
		}
	}
	return true
}

// bulk is about how many bytes the message holds.
func bulk(in Inbound) int {
	n := len(in.Text) + len(in.ReplyURL) + len(in.Author.Name) + len(in.Group) + len(in.Target)
	for _, a := range in.Attachments {
		n += len(a.ID) + len(a.Name) + len(a.MIME) + len(a.URL) + 64
	}
	for _, q := range in.Quotes {
		n += len(q.Author) + len(q.Text) + 64
	}
	return n
}

// fits reports whether an entry can hold the message. JSON makes at most six bytes of one; only a large message is measured.
func (in Inbound) fits() bool {
	if 6*bulk(in) < maxInboundBytes/2 {
		return true
	}
	b, err := json.Marshal(in)
	return err == nil && len(b) <= maxInboundBytes
}

// unread returns the message without what nobody is going to read.
func (in Inbound) unread() Inbound {
	in.Text, in.Attachments, in.Quotes = "", nil, nil
	return in
}

// without returns the message without its content: whose it is, and where its answer goes.
func (in Inbound) without() Inbound {
	in.Text, in.Attachments, in.Quotes, in.ReplyURL, in.Group, in.Target, in.Author.Name = "", nil, nil, "", "", "", ""
	return in
}
