package conduittest

import (
	"strings"
	"unicode/utf8"

	"orebot/conduit"
)

// RepeatLabel is the line that a part carries which may be there already.
const RepeatLabel = "(this part may be a repeat)\n"

// Text is a Renderer that cuts the source after Limit bytes, at a rune's start, and shows it as it is. With Shape.Shrink it halves
// the limit; with Shape.Plain it puts "plain: " in front. Version is the layout, 1 if zero. With Words it cuts behind white space
// where it can.
type Text struct {
	Limit   int
	Version uint16
	Words   bool
}

// Layout returns the version.
func (r Text) Layout() uint16 { return max(1, r.Version) }

// Part returns a piece of the source. What consists of tildes only renders to nothing.
func (r Text) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	next := min(len(it.Source), offset+max(1, r.Limit>>how.Shrink))
	for next < len(it.Source) && !utf8.RuneStart(it.Source[next]) {
		next++
	}
	if i := strings.LastIndexAny(it.Source[offset:next], " \n"); r.Words && next < len(it.Source) && i >= 0 {
		next = offset + i + 1
	}
	p := conduit.Part{Offset: offset, Next: next}
	if blank(it.Source[offset:next]) {
		return p, nil
	}
	p.Text = it.Source[offset:next]
	if how.Plain {
		p.Text = "plain: " + p.Text
	}
	if it.Kind == conduit.Attributed && offset == 0 {
		p.Text = it.Author + ": " + p.Text
	}
	if how.Repeat {
		p.Text = RepeatLabel + p.Text
	}
	p.Body = p.Text
	return p, nil
}

func blank(s string) bool {
	for _, r := range s {
		if r != '~' {
			return false
		}
	}
	return true
}
