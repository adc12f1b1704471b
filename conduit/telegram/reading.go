package telegram

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"orebot/core/session"
)

// reading is what a message's text says once the bot's own name is taken out of it.
type reading struct {
	text      string
	call      session.Call
	elsewhere bool // it opens with somebody else's mention
	otherBot  bool // it is another bot's command
	command   bool
}

// reading tells how the message calls the bot, and what its text is then. Of a forwarded message nothing is its sender's own: it is
// no command, and whom it mentions isn't called by it.
func (m *message) reading(me Me) reading {
	text, entities := m.said()
	spans := spansOf(text, entities)
	cmd, target, rest := command(text, spans)
	private := m.place().private()
	switch {
	case m.Forward != nil && private:
		return reading{call: session.CallDirect}
	case m.Forward != nil:
		return reading{}
	case target != "" && !strings.EqualFold(target, me.Username):
		return reading{otherBot: true}
	case cmd != "" && (private || target != "" || me.bare != nil && me.bare(cmd)):
		return commanded(cmd, rest, private)
	case private:
		return reading{text: strip(text, spans, me), call: session.CallDirect}
	}
	return m.overheard(text, spans, me)
}

// payload is what a deep link may carry (docs: Features, deep linking). Anything else behind /start isn't from one.
var payload = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// commanded reads a command for the bot. What asks it something is a question that happens to begin with a command.
func commanded(cmd, rest string, private bool) reading {
	r := reading{text: strings.TrimSpace("/" + cmd + " " + rest), call: session.CallCommand, command: true}
	switch {
	case cmd == "start" && !payload.MatchString(rest):
		r.text = "/start"
	case cmd == "ask":
		r.text, r.call, r.command = rest, session.CallMention, false
	}
	if private {
		r.call = session.CallDirect
	}
	return r
}

// overheard reads a message of a group that is no command for the bot. One that opens with somebody else's mention is never for the
// bot, whoever else it names.
func (m *message) overheard(text string, spans []span, me Me) reading {
	named := false
	for _, s := range spans {
		named = named || s.names(me)
	}
	switch {
	case opensElsewhere(text, spans, me):
		return reading{text: text, elsewhere: true}
	case named:
		return reading{text: strip(text, spans, me), call: session.CallMention}
	case m.repliesTo(me):
		return reading{text: text, call: session.CallReply}
	}
	return reading{text: text}
}

// span is an entity with its bytes in the text.
type span struct {
	entity
	from, to int
	text     string
}

// names reports whether the span mentions the bot: by its username, in any case, or by its id.
func (s span) names(me Me) bool {
	switch s.Type {
	case "mention":
		return me.Username != "" && strings.EqualFold(s.text, "@"+me.Username)
	case "text_mention":
		return s.User != nil && s.User.ID == me.ID
	}
	return false
}

// spansOf finds the entities that matter here, in order. Those that don't lie within the text, or overlap one before them, are left
// out.
func spansOf(text string, entities []entity) []span {
	entities = slices.Clone(entities)
	slices.SortStableFunc(entities, func(a, b entity) int { return cmp.Compare(a.Offset, b.Offset) })
	var out []span
	end := 0
	for _, e := range entities {
		if e.Type != "mention" && e.Type != "text_mention" && e.Type != "bot_command" {
			continue
		}
		from, to, ok := slice16(text, e.Offset, e.Length)
		if !ok || from < end {
			continue
		}
		out = append(out, span{e, from, to, text[from:to]})
		end = to
	}
	return out
}

// slice16 returns the bytes of a stretch of UTF-16 units; ok is false where it isn't made of whole characters of the text.
func slice16(text string, offset, length int) (from, to int, ok bool) {
	if offset < 0 || length <= 0 || length > len(text) || offset > len(text) {
		return 0, 0, false
	}
	from, to = -1, -1
	units := 0
	for i, r := range text {
		if units == offset {
			from = i
		}
		if units == offset+length {
			to = i
			break
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	if units == offset+length && to < 0 {
		to = len(text)
	}
	return from, to, from >= 0 && to > from
}

// command takes apart the command that a text begins with: its name in small letters, the bot that it names, and what follows.
func command(text string, spans []span) (name, target, rest string) {
	if len(spans) == 0 || spans[0].Type != "bot_command" || spans[0].from != 0 {
		return "", "", ""
	}
	word := strings.TrimPrefix(spans[0].text, "/")
	name, target, _ = strings.Cut(word, "@")
	return strings.ToLower(name), target, strings.TrimSpace(text[spans[0].to:])
}

// opensElsewhere reports whether the text begins with the mention of somebody who isn't the bot.
func opensElsewhere(text string, spans []span, me Me) bool {
	for _, s := range spans {
		if s.Type != "bot_command" {
			return strings.TrimSpace(text[:s.from]) == "" && !s.names(me)
		}
	}
	return false
}

// strip takes out the mentions of the bot that a text opens with, as those who call somebody write them: with no word in front, and
// spaces, a comma or a colon behind; and the one behind a single word, as in "stop @OreBot". Anywhere else the name belongs to the
// sentence: without it "is @OreBot free?" would ask something else.
func strip(text string, spans []span, me Me) string {
	at, head := 0, ""
	for _, s := range spans {
		if !s.names(me) || strings.ContainsFunc(text[at:s.from], ofWord) {
			break
		}
		head, at = head+text[at:s.from], s.to
	}
	if at == 0 {
		return oneWord(text, spans, me)
	}
	return strings.TrimSpace(strings.TrimLeftFunc(head, calling) + strings.TrimLeftFunc(text[at:], calling))
}

// oneWord returns the word that a text consists of, but for a mention of the bot behind it; else the text.
func oneWord(text string, spans []span, me Me) string {
	if len(spans) != 1 || !spans[0].names(me) || strings.TrimSpace(text[spans[0].to:]) != "" {
		return text
	}
	if words := strings.Fields(text[:spans[0].from]); len(words) == 1 {
		return words[0]
	}
	return text
}

// calling reports whether a character stands between a name that is called and what is said.
func calling(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ':' }

// ofWord reports whether a character makes a word, unlike a sign or an emoji.
func ofWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
