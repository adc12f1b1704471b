package slack

import (
	"encoding/json"
	"errors"
	"strings"

	"orebot/core/session"
)

// Reasons for which the conduit ignores what came in, metric labels beside those of the session.
const (
	ignoredEvent       = "event"        // nothing that somebody wrote
	ignoredSubtype     = "subtype"      // a notice of Slack's in a conversation, such as a join
	ignoredEdit        = "edit"         // an edit, an unfurl, a thread's new reply count
	ignoredDelete      = "delete"       // a deletion
	ignoredOwn         = "own"          // the bot's own post, come back
	ignoredLimited     = "rate_limited" // Slack drops events: over 30,000 an hour
	ignoredInvalid     = "invalid"      // can't be understood
	ignoredCommand     = "command"      // a slash command; it gets an answer all the same
	ignoredInteractive = "interactive"  // a button or a form
	ignoredEnvelope    = "envelope"     // of a kind that didn't exist when this was written
)

// slackbot is the id of Slack's own bot.
const slackbot = "USLACKBOT"

var errPayload = errors.New("slack: the payload is no JSON object")

// translate makes of an event's payload what the session takes, or says why it is ignored. It is pure. The error is a payload that
// isn't an object at all.
func translate(payload []byte, me identity) (in session.Inbound, ignored string, err error) {
	var p object
	if json.Unmarshal(payload, &p) != nil || p == nil {
		return in, ignoredInvalid, errPayload
	}
	ev := p.object("event")
	if why := pass(p, ev, me); why != "" {
		return in, why, nil
	}
	channel, ts, thread := ev.text("channel"), ev.text("ts"), ev.text("thread_ts")
	author := authorOf(ev, me)
	if !validID(channel) || !validTS(ts) || thread != "" && !validTS(thread) || author.ID == "" {
		return in, ignoredInvalid, nil
	}
	text := ev.text("text")
	who, _ := leads(text)
	in = session.Inbound{
		Key: entryKey(me.team, channel, ts), Author: author, Order: ts, Message: ts, At: timeOf(ts),
		Text: textOf(ev, me), Attachments: filesOf(ev),
		Call:      callOf(ev, me),
		Elsewhere: who != "" && who != me.user,
	}
	at := place{team: me.team, channel: channel, thread: thread}
	if !private(ev) {
		in.Place = personID(channel)
		if thread == "" {
			at.thread = ts
		}
	}
	in.Address = at.address()
	return in, "", nil
}

// pass returns why an event isn't a message for anybody; empty: it may be one.
func pass(p, ev object, me identity) string {
	kind, subtype := ev.text("type"), ev.text("subtype")
	switch {
	case p.text("type") == "app_rate_limited":
		return ignoredLimited
	case kind != "message" && kind != "app_mention":
		return ignoredEvent
	case subtype == "message_changed":
		return ignoredEdit
	case subtype == "message_deleted":
		return ignoredDelete
	case own(ev, p.text("api_app_id"), me):
		return ignoredOwn
	}
	switch subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return ""
	}
	return ignoredSubtype
}

// own reports whether the bot wrote a message: posts carry its user and bot id, those through a response URL no user at all.
func own(ev object, app string, me identity) bool {
	bot := ev.object("bot_profile")
	same := func(id, mine string) bool { return id != "" && id == mine }
	return same(ev.text("user"), me.user) || same(ev.text("bot_id"), me.bot) || same(bot.text("id"), me.bot) ||
		same(ev.text("app_id"), app) || same(bot.text("app_id"), app)
}

// authorOf is who wrote a message, as far as its event tells: whether a person is a guest is never in it.
func authorOf(ev object, me identity) session.Author {
	user, bot := ev.text("user"), ev.text("bot_id")
	if bot == "" {
		bot = ev.object("bot_profile").text("id")
	}
	if bot != "" || ev.text("subtype") == "bot_message" || user == slackbot || ev.object("bot_profile") != nil {
		if !validID(bot) {
			bot = user
		}
		return session.Author{ID: idOr(bot), Bot: true, Known: true, External: external(ev, me)}
	}
	return session.Author{ID: idOr(user), External: external(ev, me)}
}

func idOr(id string) string {
	if !validID(id) {
		return ""
	}
	return personID(id)
}

// external reports whether an author belongs to another workspace, which shared channels have.
func external(ev object, me identity) bool {
	user, source := ev.text("user_team"), ev.text("source_team")
	if user == "" && source == "" {
		user = ev.text("team")
	}
	foreign := func(team string) bool { return team != "" && team != me.team }
	return foreign(user) || foreign(source)
}

// private reports whether a message stands in a person's DM with the bot, or on the messages tab of its home, which is the same. An
// app_mention names no type. Slack says that it sends none in DMs; if it does, it has to be the same message as its twin, and D is
// the one first letter that still tells something.
func private(ev object) bool {
	kind := ev.text("channel_type")
	return kind == "im" || kind == "app_home" || kind == "" && strings.HasPrefix(ev.text("channel"), "D")
}

// callOf says how a message calls the bot. Of the two events of a mention, both say the same.
func callOf(ev object, me identity) session.Call {
	switch {
	case private(ev):
		return session.CallDirect
	case ev.text("type") == "app_mention", mentioned(ev.text("text"), me.user), ev.holds("blocks", `"user_id":"`+me.user+`"`):
		return session.CallMention
	}
	return session.CallAmbient
}

// textOf is what a message says: its text without the mention in front, then what it forwards, quoted.
func textOf(ev object, me identity) string {
	parts := []string{readText(stripCall(ev.text("text"), me.user), me)}
	for _, a := range ev.list("attachments") {
		if !a.flag("is_share") && !a.flag("is_msg_unfurl") {
			continue
		}
		if t := readText(a.text("text"), me); strings.TrimSpace(t) != "" {
			parts = append(parts, "> "+strings.ReplaceAll(t, "\n", "\n> "))
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n"))
}

// filesOf refers to a message's files. Deleted ones are left out; one that isn't kept by Slack has no URL, since whatever fetches it
// would send the token there.
func filesOf(ev object) []session.Attachment {
	var out []session.Attachment
	for _, f := range ev.list("files") {
		id := f.text("id")
		if !validID(id) || f.text("mode") == "tombstone" {
			continue
		}
		a := session.Attachment{ID: id, Name: f.text("name"), MIME: f.text("mimetype"), Size: f.size("size")}
		if !f.flag("is_external") && f.text("mode") != "external" {
			a.URL = f.text("url_private_download")
		}
		out = append(out, a)
	}
	return out
}
