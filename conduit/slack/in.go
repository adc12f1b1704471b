package slack

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"orebot/core/session"
)

// Reasons for which the conduit ignores what came in, metric labels beside those of the session.
const (
	ignoredEvent       = "event"        // nothing that somebody wrote
	ignoredSubtype     = "subtype"      // a notice of Slack's in a conversation, such as a join
	ignoredEdit        = "edit"         // an unfurl, a thread's new reply count, a bot's edit: no person changed a text
	ignoredDelete      = "delete"       // the deletion of a bot's message
	ignoredOwn         = "own"          // the bot's own post, come back
	ignoredLimited     = "rate_limited" // Slack drops events: over 30,000 an hour
	ignoredInvalid     = "invalid"      // can't be understood
	ignoredCommand     = "command"      // a slash command by another name; it gets an answer all the same
	ignoredInteractive = "interactive"  // a form, or a button that isn't the bot's
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
	me.app = p.text("api_app_id")
	if why := pass(p, ev, me); why != "" {
		return in, why, nil
	}
	switch ev.text("subtype") {
	case "message_changed":
		in, ignored = translateChange(ev, me)
	case "message_deleted":
		in, ignored = translateDeletion(ev, ev.object("previous_message"), ev.text("deleted_ts"), me)
	default:
		in, ignored = translateMessage(ev, ev, me)
	}
	return in, ignored, nil
}

// translateMessage makes an Inbound of the message m, which the event tells of.
func translateMessage(ev, m object, me identity) (in session.Inbound, ignored string) {
	at, ok := spotOf(ev, m, me)
	author := authorOf(m, me)
	if !ok || author.ID == "" {
		return in, ignoredInvalid
	}
	in = at.inbound()
	in.Author, in.Call = author, callOf(ev, m, me)
	who, _ := leads(m.text("text"))
	in.Elsewhere = who != "" && who != me.user
	in.Text = strings.TrimSpace(readText(stripCall(m.text("text"), me.user), me))
	in.Attachments, in.Quotes = filesOf(m), quotesOf(m, me)
	in.Mentions = mentionsOf(m, me)
	return in, ""
}

// pass returns why an event isn't a message for anybody; empty: it may be one.
func pass(p, ev object, me identity) string {
	kind, subtype := ev.text("type"), ev.text("subtype")
	switch {
	case p.text("type") == "app_rate_limited":
		return ignoredLimited
	case kind != "message" && kind != "app_mention":
		return ignoredEvent
	case own(ev, me):
		return ignoredOwn
	}
	switch subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message", "message_changed", "message_deleted":
		return ""
	}
	return ignoredSubtype
}

// own reports whether the bot wrote a message: posts carry its user and bot id, those through a response URL no user at all. A bot
// that goes by the user's id is the same one: nothing that comes in has the bot as its author.
func own(ev object, me identity) bool {
	bot := ev.object("bot_profile")
	same := func(id string, mine ...string) bool { return id != "" && slices.Contains(mine, id) }
	return same(ev.text("user"), me.user) || same(ev.text("bot_id"), me.bot, me.user) || same(bot.text("id"), me.bot, me.user) ||
		same(ev.text("app_id"), me.app) || same(bot.text("app_id"), me.app)
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
func callOf(ev, m object, me identity) session.Call {
	switch {
	case private(ev):
		return session.CallDirect
	case ev.text("type") == "app_mention", mentioned(m.text("text"), me.user), m.holds("blocks", `"user_id":"`+me.user+`"`):
		return session.CallMention
	}
	return session.CallAmbient
}
