package telegram

import (
	"strings"
	"unicode/utf16"
)

// clean does to a text what the server does to every text that it is sent (source: clean_input_string, fix_formatted_text):
// control characters become spaces, a few characters vanish, blanks at the end go, and blanks at the start up to the
// first entity. Entities move along and come out normalised.
func clean(text string, es []Entity) (string, []Entity) {
	text, es = replaceOdd(text, es)
	text, es = trim(text, es)
	return text, normalise(es)
}

// replaceOdd replaces rune by rune and moves the entities' edges along.
func replaceOdd(text string, es []Entity) (string, []Entity) {
	var b strings.Builder
	moved := make([]int, 0, len(text)+1) // by old offset: the new one
	at := 0
	runes := []rune(text)
	for i, r := range runes {
		for range utf16.RuneLen(r) {
			moved = append(moved, at)
		}
		if r = replacement(runes, i); r >= 0 {
			b.WriteRune(r)
			at += utf16.RuneLen(r)
		}
	}
	moved = append(moved, at)
	out := make([]Entity, 0, len(es))
	for _, e := range es {
		end := moved[e.End()]
		e.Offset = moved[e.Offset]
		e.Length = end - e.Offset
		out = append(out, e)
	}
	return b.String(), out
}

// replacement is what stands in place of the i-th rune, or -1 for nothing.
func replacement(runes []rune, i int) rune {
	r := runes[i]
	switch {
	case r == '\r', r >= 0x2028 && r <= 0x202E, r == 0x0333, r == 0x033F, r == 0x030A:
		return -1
	case r < ' ' && r != '\n':
		return ' '
	case (r == 0x200E || r == 0x200F) && i+1 < len(runes) && (runes[i+1] == 0x200E || runes[i+1] == 0x200F):
		return 0x200C
	}
	return r
}

func trim(text string, es []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	end, start := units(text), len(text)
	lead := start - len(strings.TrimLeft(text, " \n"))
	for _, e := range es {
		if e.Length > 0 {
			lead = min(lead, e.Offset) // blanks are one byte and one unit each
		}
	}
	text = text[lead:]
	var out []Entity
	for _, e := range es {
		e.Length = min(e.End(), end) - e.Offset
		e.Offset -= lead
		if e.Length > 0 {
			out = append(out, e)
		}
	}
	return text, out
}
