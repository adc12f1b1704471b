package slash

import (
	"slices"
	"strings"
	"unicode"

	"orebot/core/session"
)

// unknown is the name under which Parse returns what looks like a command and is none; the word is its argument.
const unknown = "?"

// maxName bounds a word that may be a command.
const maxName = 24

// Words that are commands without a prefix, where they are the whole message.
var (
	bareAnywhere = []string{"help", "stop", "cancel"}
	bareMention  = []string{"new", "reset", "retry", "status"}
)

// Parse reads a message as a command: its name without aliases, and what stands behind it. It is pure.
func (c *Commands) Parse(in session.Inbound) (name, args string, ok bool) {
	switch in.Signal {
	case session.SignalNone:
	case session.SignalButton:
		in.Text, in.Call = "/"+in.Action, session.CallCommand
	default:
		return "", "", false
	}
	word, rest, prefixed := split(in)
	if !prefixed {
		return bare(in)
	}
	sp, known := find(word)
	calls := in.Call != session.CallAmbient || in.Followed
	switch {
	case sp.name == "start" && isCode(rest): // the payload of a deep link
		return "link", rest, true
	case known && (calls || rest == "" || sp.args):
		return sp.name, rest, true
	case known || word == "" || !calls: // what others' bots are told may look like that, too
		return "", "", false
	case rest == "" || near(word) != "" || in.ReplyURL != "":
		return unknown, word, true
	}
	return "", "", false
}

// split takes a prefixed message apart; word is empty where what follows the prefix can't be a name, as in "/etc/fstab".
func split(in session.Inbound) (word, rest string, prefixed bool) {
	text := strings.TrimSpace(strings.TrimLeftFunc(in.Text, blank))
	body, prefixed := cutPrefix(text)
	if !prefixed && in.Call != session.CallCommand {
		return "", "", false
	}
	if i := strings.IndexFunc(body, isSpace); i >= 0 {
		body, rest = body[:i], visible(body[i:])
	}
	if in.Call == session.CallCommand { // Telegram: "/help@the_bot"
		body, _, _ = strings.Cut(body, "@")
	}
	word = named(strings.TrimRightFunc(strings.ToLower(body), session.Unseen), rest)
	if len(word) > maxName || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return "", rest, true
	}
	return word, rest, true
}

func cutPrefix(text string) (string, bool) {
	if text == "" || text[0] != '/' && text[0] != '!' {
		return text, false
	}
	return text[1:], true
}

// named is a word without the punctuation behind it, where the message is that word alone and it is a command so: "/help?".
func named(word, rest string) string {
	if bare := strings.TrimRight(word, ".!?,;:…"); rest == "" && bare != word {
		if _, known := find(bare); known {
			return bare
		}
	}
	return word
}

// visible returns what stands behind a name without the blanks around it; nothing, where nothing of it can be seen.
func visible(s string) string {
	if strings.TrimFunc(s, blank) == "" {
		return ""
	}
	return strings.TrimSpace(s)
}

// blank reports whether nobody sees a character.
func blank(r rune) bool { return session.Unseen(r) || unicode.IsSpace(r) || unicode.IsControl(r) }

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' }

// bare reads words that are commands without a prefix, in a private chat or after a mention.
func bare(in session.Inbound) (name, args string, ok bool) {
	if len(in.Attachments) > 0 || len(in.Quotes) > 0 {
		return "", "", false
	}
	word := strings.ToLower(strings.TrimRight(strings.TrimFunc(in.Text, blank), ".!"))
	mention := in.Call == session.CallMention
	if slices.Contains(bareAnywhere, word) && (mention || in.Call == session.CallDirect) ||
		slices.Contains(bareMention, word) && mention {
		sp, _ := find(word)
		return sp.name, "", true
	}
	return "", "", false
}

// Now reports whether a command runs beside a turn.
func (c *Commands) Now(name, args string) bool {
	sp, ok := find(name)
	return ok && sp.now || name == unknown || name == "link" && args == ""
}
