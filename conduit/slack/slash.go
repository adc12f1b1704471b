package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"orebot/core/session"
)

// Names of the buttons that the bot puts under what it says: actionPrefix and the name of a command. The value is that name too.
const actionPrefix = "orebot:"

// dmName is what Slack calls every DM in commands and actions, also one between two people.
const dmName = "directmessage"

// commandOf makes a command of a slash command's payload. Slack tells of neither a thread nor a message there: in a channel its place
// is the channel as a whole, in the bot's DM (known tells which channels those are) it is the DM. It is pure; now is when it came.
func commandOf(payload []byte, me identity, known func(channel string) bool, now time.Time) (in session.Inbound, ignored string) {
	var p object
	_ = json.Unmarshal(payload, &p)
	in, ok := begin(p, p.text("channel_id"), p.text("channel_name"), me, known, now)
	author := memberOf(p.text("user_id"), p.text("team_id"), me)
	if !ok || author.ID == "" {
		return session.Inbound{}, ignoredInvalid
	}
	in.Author, in.Call = author, session.CallCommand
	in.Key = me.team + "/slash/" + nameable(p.text("trigger_id"), payload)
	in.Text = commandText(p.text("text"), me)
	in.Mentions = mentionedIn(nil, p.text("text"), me)
	return in, ""
}

// commandText is a command as it is written after a slash. Without a name it is help.
func commandText(text string, me identity) string {
	text = strings.TrimLeft(strings.TrimSpace(readTyped(text, me)), "/!")
	if text == "" {
		text = "help"
	}
	return "/" + text
}

// buttonOf makes a signal of a click on one of the bot's buttons. One under what answered a slash command in a channel, which stands
// in no thread and which only one person sees, is that command written there.
func buttonOf(payload []byte, me identity, known func(channel string) bool, now time.Time) (in session.Inbound, ignored string) {
	var p object
	_ = json.Unmarshal(payload, &p)
	action, ok := pressed(p)
	if !ok {
		return in, ignoredInteractive
	}
	user, channel, box := p.object("user"), p.object("channel"), p.object("container")
	id := firstOf(channel.text("id"), box.text("channel_id"))
	in, ok = begin(p, id, channel.text("name"), me, known, now)
	ts := firstOf(box.text("message_ts"), p.object("message").text("ts"))
	author := memberOf(user.text("id"), firstOf(user.text("team_id"), p.object("team").text("id")), me)
	if !ok || !validTS(ts) || author.ID == "" {
		return session.Inbound{}, ignoredInvalid
	}
	thread := firstOf(box.text("thread_ts"), p.object("message").text("thread_ts"))
	at := place{team: me.team, channel: id, thread: thread}
	name := strings.TrimPrefix(action.text("action_id"), actionPrefix)
	in.Author, in.Key = author, entryKey(me.team, id, ts)+"/button/"+nameable(firstOf(action.text("action_ts"), p.text("trigger_id")), payload)
	switch {
	case in.Place != "" && thread == "" && box.flag("is_ephemeral"):
		in.Call, in.Text = session.CallCommand, "/"+name
		return in, ""
	case in.Place != "" && thread == "":
		at.thread = ts
	case thread != "" && !validTS(thread):
		return session.Inbound{}, ignoredInvalid
	}
	in.Address, in.Action = at.address(), name
	in.Signal, in.Target, in.TargetKey = session.SignalButton, ts, entryKey(me.team, id, ts)
	return in, ""
}

// pressed returns the action of a click on a button of the bot's.
func pressed(p object) (action object, ok bool) {
	list := p.list("actions")
	if p.text("type") != "block_actions" || len(list) == 0 {
		return nil, false
	}
	name, found := strings.CutPrefix(list[0].text("action_id"), actionPrefix)
	return list[0], found && name != "" && len(name) <= 64
}

// begin begins the Inbound of what somebody did in a channel, otherwise than by a message. The response URL works in all of them.
func begin(p object, channel, name string, me identity, known func(string) bool, now time.Time) (in session.Inbound, ok bool) {
	if !validID(channel) {
		return in, false
	}
	in = session.Inbound{Address: place{team: me.team, channel: channel}.address(), Order: stampOf(now), At: now, ReplyURL: p.text("response_url")}
	if len(in.ReplyURL) > maxReplyURL {
		in.ReplyURL = ""
	}
	if name != dmName && name != "" || !known(channel) {
		in.Place = personID(channel)
	}
	return in, true
}

// maxReplyURL bounds a response URL, in bytes.
const maxReplyURL = 2048

// memberOf is the author of a command or a click.
func memberOf(user, team string, me identity) session.Author {
	return session.Author{ID: idOr(user), External: team != "" && team != me.team}
}

// nameable returns an id as part of a key, or, where it is odd or there is none, one made of the payload.
func nameable(id string, payload []byte) string {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '-' && r != '_'
	}
	if id != "" && len(id) <= 128 && !strings.ContainsFunc(id, odd) {
		return id
	}
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:16])
}
