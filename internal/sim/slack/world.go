package slack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// User is a person or a bot of the workspace, or one who is in it through a shared channel.
type User struct {
	ID    string
	Name  string
	Team  string // another than the workspace's: an external person
	Guest bool   // a multi-channel guest
	Bot   bool
}

// Kind is the kind of a conversation, as the channel_type of events names it.
type Kind string

// The kinds of conversations.
const (
	Public  Kind = "channel"
	Private Kind = "group"
	IM      Kind = "im"
	MPIM    Kind = "mpim"
)

// Message is a message as it stands. Text and Blocks are as they were posted, entities and all; Shown is Text, or what
// Blocks hold, as a person reads it. TS and Thread are Slack's "seconds.micros" strings; Thread is empty at top level.
type Message struct {
	Channel, TS, Thread string
	User, BotID         string // a response_url post has no User
	Subtype             string
	Text, Shown         string
	Blocks              json.RawMessage
	Attachments         json.RawMessage
	Metadata            json.RawMessage
	Edited              string   // ts of the last edit
	Reactions           []string // "eyes UBOT"
	Files               []string // ids
	Deleted             bool     // a root that its replies keep in place

	at        int64
	clientID  string
	broadcast bool
}

type channel struct {
	id, name string
	kind     Kind
	members  []string
	archived bool
	shared   bool // with another organisation
	messages []*Message
	gone     map[string]bool // ts of deleted messages
	status   map[string]status
}

type world struct {
	users    map[string]*User
	channels map[string]*channel
	count    map[string]int
	lastTS   int64 // microseconds
}

func newWorld() world {
	return world{users: map[string]*User{}, channels: map[string]*channel{}, count: map[string]int{}}
}

// next returns the next number of a series, from 1.
func (w *world) next(series string) int {
	w.count[series]++
	return w.count[series]
}

// id returns a fresh id for a user, channel or file.
func (w *world) id(prefix string) string {
	for {
		id := prefix + strconv.Itoa(w.next(prefix))
		if w.users[id] == nil && w.channels[id] == nil {
			return id
		}
	}
}

// stamp returns a ts later than any before: the time, or a microsecond more than the last one.
func (w *world) stamp() string {
	w.lastTS = max(time.Now().UnixMicro(), w.lastTS+1)
	return fmt.Sprintf("%d.%06d", w.lastTS/1e6, w.lastTS%1e6)
}

// micros reads a ts, or the whole seconds that oldest and latest may be.
func micros(ts string) (int64, bool) {
	sec, frac, _ := strings.Cut(ts, ".")
	if len(frac) > 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(sec+frac+strings.Repeat("0", 6-len(frac)), 10, 63)
	return int64(n), err == nil
}

// put adds m to its channel, in the order of ts.
func (w *world) put(m *Message) {
	ch := w.channels[m.Channel]
	m.at, _ = micros(m.TS)
	w.lastTS = max(w.lastTS, m.at)
	i, _ := slices.BinarySearchFunc(ch.messages, m.at, byTime)
	ch.messages = slices.Insert(ch.messages, i, m)
}

func byTime(m *Message, at int64) int {
	switch {
	case m.at < at:
		return -1
	case m.at > at:
		return 1
	}
	return 0
}

// find returns the message with this ts, nil if there is none.
func (ch *channel) find(ts string) *Message {
	at, ok := micros(ts)
	if !ok {
		return nil
	}
	if i, found := slices.BinarySearchFunc(ch.messages, at, byTime); found {
		return ch.messages[i]
	}
	return nil
}

// thread returns the root, if it is there, and the replies after it.
func (ch *channel) thread(root string) []*Message {
	var out []*Message
	for _, m := range ch.messages {
		if m.TS == root || m.Thread == root {
			out = append(out, m)
		}
	}
	return out
}

// remove takes a message out; a root with replies stays in place as a tombstone. It reports whether it did stay.
func (ch *channel) remove(m *Message) bool {
	ch.gone[m.TS] = true
	if len(ch.thread(m.TS)) > 1 {
		m.Deleted, m.Subtype = true, "tombstone"
		m.Text, m.Shown, m.User = "This message was deleted.", "This message was deleted.", "USLACKBOT"
		m.BotID, m.Blocks, m.Attachments, m.Metadata, m.Files = "", nil, nil, nil, nil
		return true
	}
	ch.messages = slices.DeleteFunc(ch.messages, func(x *Message) bool { return x == m })
	return false
}

func (ch *channel) has(user string) bool { return slices.Contains(ch.members, user) }

// peer is whom an IM is with, seen from user.
func (ch *channel) peer(user string) string {
	for _, m := range ch.members {
		if m != user {
			return m
		}
	}
	return user
}

// prefix is what the kind's scopes begin with.
func (k Kind) prefix() string {
	return map[Kind]string{Public: "channels", Private: "groups", IM: "im", MPIM: "mpim"}[k]
}
