package session

import (
	"strings"
	"unicode"
)

// Unseen reports whether nobody sees a character by itself: zero-width ones, marks of direction, fillers, and what else only changes its
// neighbours. Spaces and control characters are none of them.
func Unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800'
}

// blank reports whether nobody sees anything of a text.
func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !Unseen(r) && !unicode.IsSpace(r) && !unicode.IsControl(r) })
}

// shows reports whether a person sees anything of a text in Markdown: spaces, joiners and empty fences, headings or quotes show
// nothing.
func shows(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !Unseen(r) && !strings.ContainsRune("`~#>", r)
	})
}
