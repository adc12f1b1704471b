package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// normal is a source made fit for CommonMark: lines end in \n, there is no NUL
// and no invalid UTF-8, and a leading <think> block is gone.
type normal struct {
	text string
	// at maps each byte of text, and its end, to a byte of the source, as the
	// complement of its offset where the text has a replacement for it. It is nil
	// where text is the source from base on.
	at   []int
	base int
	from string // the source
}

func normalise(source string) *normal {
	base := thinkEnd(source)
	n := &normal{text: source[base:], base: base, from: source}
	if !utf8.ValidString(n.text) || strings.ContainsAny(n.text, "\r\x00") {
		n.rewrite()
	}
	return n
}

// thinkEnd returns the end of a leading <think> block. Where it isn't closed
// only the tag is dropped: an answer may have begun behind it.
func thinkEnd(source string) int {
	const open, end = "<think>", "</think>"
	lead := len(source) - len(strings.TrimLeft(source, " \t\r\n"))
	if !strings.HasPrefix(source[lead:], open) {
		return 0
	}
	if i := strings.Index(source[lead:], end); i >= 0 {
		return lead + i + len(end)
	}
	return lead + len(open)
}

// rewrite replaces what CommonMark must not see and builds the map.
func (n *normal) rewrite() {
	var b strings.Builder
	n.at = make([]int, 0, len(n.text)+1)
	replace := func(s string, at int) {
		for range len(s) {
			n.at = append(n.at, ^at)
		}
		b.WriteString(s)
	}
	for i := 0; i < len(n.text); {
		r, size := utf8.DecodeRuneInString(n.text[i:])
		switch {
		case r == '\r' && strings.HasPrefix(n.text[i+1:], "\n"):
		case r == '\r':
			replace("\n", n.base+i)
		case r == 0 || r == utf8.RuneError && size == 1:
			replace("\uFFFD", n.base+i)
		default:
			for j := i; j < i+size; j++ {
				n.at = append(n.at, n.base+j)
			}
			b.WriteString(n.text[i : i+size])
		}
		i += size
	}
	n.at = append(n.at, len(n.from))
	n.text = b.String()
}

// source returns the place in the source of byte i of the text.
func (n *normal) source(i int) int {
	if n.at == nil {
		return n.base + i
	}
	if at := n.at[i]; at < 0 {
		return ^at
	}
	return n.at[i]
}

// pieces calls f with runs, without style, for the text from i to j: literal
// ones as long as possible, others for replaced characters.
func (n *normal) pieces(i, j int, f func(Run)) {
	if n.at == nil {
		f(Run{Text: n.text[i:j], Source: n.base + i, End: n.base + j, Literal: true})
		return
	}
	for i < j {
		k, at := i+1, n.at[i]
		for k < j && (at < 0 && n.at[k] == at || at >= 0 && n.at[k] == at+k-i) {
			k++
		}
		if at < 0 {
			f(Run{Text: n.text[i:k], Source: ^at, End: ^at + 1})
		} else {
			f(Run{Text: n.text[i:k], Source: at, End: at + k - i, Literal: true})
		}
		i = k
	}
}

// blank says whether nothing of a text can be seen. A platform refuses a message
// of white space, and of characters that only look like some, too.
func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) && !strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r)
	})
}
