package slack

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"orebot/conduit/markup"
)

// span is text of one style, or a link with its label.
type span struct {
	text  string
	style markup.Style
	url   string // sanitised; empty: no link
}

// spansOf turns runs into spans: equal neighbours are one, a link is one with
// the style that all of its label has, and an address that can't be linked
// stands behind its label.
func spansOf(runs []markup.Run, style markup.Style) []span {
	var out []span
	for i := 0; i < len(runs); {
		s := span{text: runs[i].Text, style: runs[i].Style | style}
		j := i + 1
		if runs[i].Link == "" {
			for ; j < len(runs) && runs[j].Link == "" && runs[j].Style|style == s.style; j++ {
				s.text += runs[j].Text
			}
			out = append(out, s)
			i = j
			continue
		}
		for ; j < len(runs) && runs[j].Link == runs[i].Link; j++ {
			s.text += runs[j].Text
			s.style &= runs[j].Style | style
		}
		out = append(out, linkSpans(s, runs[i].Link)...)
		i = j
	}
	return out
}

// linkSpans is a link, or its label and address where Slack wouldn't link it.
func linkSpans(s span, link string) []span {
	if u, ok := safeURL(link); ok {
		s.url = u
		s.style &^= markup.Code
		return []span{s}
	}
	if s.text == link {
		return []span{s}
	}
	return []span{s, {text: " (" + shortURL(link) + ")", style: s.style &^ markup.Code}}
}

// safeURL returns an address as it may stand in <address|label>. Only web and
// mail addresses are links.
func safeURL(s string) (string, bool) {
	if len(s) > 2000 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }) {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Hostname() == "" {
			return "", false
		}
	case "mailto":
	default:
		return "", false
	}
	return urlEscaper.Replace(s), true
}

// shortURL cuts an address that nobody would read, such as a data: URL.
func shortURL(s string) string {
	if len(s) <= 300 {
		return s
	}
	i := 80
	for !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i] + "…"
}

// urlEscaper makes an address harmless between the brackets of a link, and in a message that has fences.
var urlEscaper = strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "&", "&amp;", "`", "%60")
