package attribution

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how many characters of a name are shown. Slack allows 80, Telegram 64 each for the first and the last name.
const maxName = 80

// nobody stands for a name of which nothing can be shown.
const nobody = "somebody"

// oneLine returns a name that stays within its brackets: without line breaks, control and invisible characters, each run of blanks
// one space, brackets round, at most maxName characters. An empty name stays empty; one of which nothing is left is "somebody".
func oneLine(name string) string {
	if name == "" {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case invisible(r):
			return -1
		case opens(r):
			return '('
		case closes(r):
			return ')'
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimRight(string(runes[:maxName-1]), " ") + "…"
	}
	if name == "" {
		return nobody
	}
	return name
}

// harmless returns the text with a backslash before each line that could be taken for a label.
func harmless(text string) string {
	if !strings.ContainsFunc(text, opens) {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := lineLen(text)
		b.WriteString(escaped(text[:n]))
		text = text[n:]
	}
	return b.String()
}

// lineLen returns the length of the first line in bytes, with what ends it.
func lineLen(text string) int {
	for i, r := range text {
		if breaks(r) {
			return i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

// escaped returns a line with a backslash before the bracket that it opens with, if a closing one and a colon follow.
func escaped(line string) string {
	at := strings.IndexFunc(line, func(r rune) bool { return !blank(r) })
	if at < 0 || !forges(line[at:]) {
		return line
	}
	return line[:at] + `\` + line[at:]
}

// forges reports whether s begins as a label does, whatever brackets and colon it uses, with blanks between them or not.
func forges(s string) bool {
	if r, _ := utf8.DecodeRuneInString(s); !opens(r) {
		return false
	}
	for i, r := range s {
		if !closes(r) {
			continue
		}
		rest := strings.TrimLeftFunc(s[i+utf8.RuneLen(r):], blank)
		if next, _ := utf8.DecodeRuneInString(rest); colon(next) {
			return true
		}
	}
	return false
}

// breaks reports whether a reader sees a new line after r.
func breaks(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// blank reports whether r shows nothing.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || invisible(r) }

// invisible reports whether r is a mark of Unicode's that takes no room, such as a zero-width space or a change of direction, or
// a letter that is blank all the same.
func invisible(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f', '\u180b', '\u180c', '\u180d':
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// opens reports whether r is a square bracket, or looks like one.
func opens(r rune) bool {
	return r == '[' || r >= utf8.RuneSelf && strings.ContainsRune("［【〔〖〘〚⟦⁅﹇⦋⦍⦏❲", r)
}

// closes is the counterpart of opens.
func closes(r rune) bool {
	return r == ']' || r >= utf8.RuneSelf && strings.ContainsRune("］】〕〗〙〛⟧⁆﹈⦌⦎⦐❳", r)
}

// colon reports whether r is a colon, or looks like one.
func colon(r rune) bool { return strings.ContainsRune(":：﹕︓ː∶꞉", r) }
