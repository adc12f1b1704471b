package slack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orebot/conduit/markup"
)

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// labelEscaper is escaper for the label of a link, which a bar would end and in which a tick would begin code.
var labelEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "¦", "`", "ˋ")

// cleanText replaces control characters by spaces and drops overrides of the
// writing direction.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202a && r <= 0x202e:
			return -1
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029:
			return ' '
		}
		return r
	}, s)
}

// mrkdwnWriter writes lines.
type mrkdwnWriter struct {
	out    strings.Builder
	last   rune          // of the line, as Slack reads it; 0 at its start
	closed bool          // last is a closing marker
	busy   map[byte]bool // markers that must not stand in the line's text
}

func (w *mrkdwnWriter) newline() {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	w.last, w.closed = 0, false
}

// raw writes what needs no escaping.
func (w *mrkdwnWriter) raw(s string) {
	if s != "" {
		w.out.WriteString(s)
		w.last, _ = utf8.DecodeLastRuneInString(s)
	}
}

// text writes spans, line by line, each with what stands before it.
func (w *mrkdwnWriter) text(spans []span, in []markup.Container, first bool) {
	for {
		line, rest, more := cutLine(spans)
		w.raw(linePrefix(in, first))
		w.line(line)
		if !more {
			return
		}
		w.newline()
		spans, first = rest, false
	}
}

// cutLine splits spans at the first line break outside a link.
func cutLine(spans []span) (line, rest []span, more bool) {
	for i, s := range spans {
		if before, after, ok := strings.Cut(s.text, "\n"); ok && s.url == "" {
			line = append(append(line, spans[:i]...), span{text: before, style: s.style})
			rest = append(append(rest, span{text: after, style: s.style}), spans[i+1:]...)
			return line, rest, true
		}
	}
	return spans, nil, false
}

// line writes the spans of one line.
func (w *mrkdwnWriter) line(spans []span) {
	w.busy = map[byte]bool{}
	for _, m := range markers {
		n := 0
		for _, s := range spans {
			n += strings.Count(s.text, string(m.char))
			if s.style&m.style != 0 {
				n = 2
			}
		}
		w.busy[m.char] = n > 1
	}
	start := true
	for _, s := range spans {
		s.text = strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' {
				return ' '
			}
			return r
		}, cleanText(s.text))
		start = w.span(s, start) && start
	}
}

// markers are the characters that style text, outermost first.
var markers = [...]struct {
	char  byte
	style markup.Style
}{{'*', markup.Bold}, {'_', markup.Italic}, {'~', markup.Strike}}

// span writes one span; start says that the line's text begins with it. White
// space at its ends stays outside the markers, which Slack wants next to text.
// It reports whether it wrote nothing but white space.
func (w *mrkdwnWriter) span(s span, start bool) bool {
	core := strings.Trim(s.text, " ")
	if core == "" {
		w.plain(s.text, 0, false)
		return true
	}
	i := strings.Index(s.text, core)
	w.plain(s.text[:i], 0, false)
	open := openers(s.style)
	if open != "" {
		w.edge()
		w.raw(open)
	}
	switch {
	case s.url != "":
		w.raw("<" + s.url + "|" + labelEscaper.Replace(core) + ">")
	case s.style&markup.Code != 0:
		w.raw(escaper.Replace(strings.ReplaceAll(core, "`", "ˋ")))
	default:
		w.plain(core, s.style, start)
	}
	if open != "" {
		w.raw(reversed(open))
		w.closed = true
	}
	w.plain(s.text[i+len(core):], 0, false)
	return false
}

// openers returns the markers that open a style.
func openers(style markup.Style) string {
	if style&markup.Code != 0 {
		return "`"
	}
	s := ""
	for _, m := range markers {
		if style&m.style != 0 {
			s += string(m.char)
		}
	}
	return s
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// edge keeps a marker apart from what it can't stand next to: Slack takes it
// for one only between a space or some punctuation and the text, so everywhere
// else a zero-width space comes between.
func (w *mrkdwnWriter) edge() {
	if w.last != 0 && (w.closed || !strings.ContainsRune(" \u200b([{\"'-", w.last)) {
		w.raw("\u200b")
	}
	w.closed = false
}

// plain writes text such that it is nothing but text.
func (w *mrkdwnWriter) plain(s string, style markup.Style, start bool) {
	for i, r := range s {
		if w.closed && !strings.ContainsRune(" )]}\"'.,:;!?-", r) {
			w.raw("\u200b")
		}
		w.closed = false
		switch next := secondRune(s[i:]); {
		case r == '>' && start && i == 0:
			w.raw("\u200b&gt;")
		case r == '&' || r == '<' || r == '>':
			w.raw(escaper.Replace(string(r)))
			w.last = r
		case r == '`':
			w.raw("ˋ")
		case r < 0x80 && w.busy[byte(r)] && !w.harmless(r, next, style):
			if w.last != '\u200b' {
				w.raw("\u200b")
			}
			w.raw(string(r) + "\u200b")
		default:
			w.raw(string(r))
		}
	}
}

// secondRune returns the second character of s, or 0.
func secondRune(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	if n == len(s) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}

// harmless says whether Slack leaves a marker alone: within a word, or with
// spaces around it, unless text of its style is being written.
func (w *mrkdwnWriter) harmless(r, next rune, style markup.Style) bool {
	for _, m := range markers {
		if rune(m.char) == r && style&m.style != 0 {
			return false
		}
	}
	wordly := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	spacy := func(r rune) bool { return r == 0 || r == ' ' }
	return wordly(w.last) && wordly(next) || spacy(w.last) && next == ' '
}
