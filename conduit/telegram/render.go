package telegram

import (
	"strings"
	"sync"

	"orebot/conduit"
	"orebot/conduit/markup"
	"orebot/core/loop"
)

const (
	// layout is the version of the way answers are split.
	layout = 1
	// repeatLabel is the line of a part that may be there already. Room for it is left in every part, so that it never changes where
	// a part ends.
	repeatLabel = "(this part may be a repeat)\n"
	// maxAuthor is the most that is shown of an author's id, in runes.
	maxAuthor = 64
)

// Renderer makes messages of items. It is a conduit.Renderer. The zero Renderer is ready; one of NewRenderer parses less.
type Renderer struct{ recent *documents }

// NewRenderer returns a Renderer that remembers the last few items it was asked about: a courier asks for each part of an item, and
// for some of them more than once.
func NewRenderer() Renderer { return Renderer{&documents{}} }

// body is what a post needs to know of a part.
type body struct {
	text  string
	html  bool // else plain text
	first bool // of its item
}

// Layout returns the version of the way items are split.
func (Renderer) Layout() uint16 { return layout }

// Part returns the message that shows the item from offset on.
func (r Renderer) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	head := ""
	if offset == 0 {
		head = heading(it)
	}
	page, next := renderHTML(r.recent.parse(it.Source), offset, roomFor(head, how.Shrink))
	part := conduit.Part{Offset: offset, Next: next}
	if page.HTML == "" {
		return part, nil
	}
	label := ""
	if how.Repeat {
		label = repeatLabel
	}
	if !how.Plain {
		part.Text = label + head + page.Plain
		part.Body = body{text: escapeText(label+head) + page.HTML, html: true, first: offset == 0}
		return part, nil
	}
	text := inert(head + page.Plain)
	if how.Shrink < conduit.MaxShrink && units16(text) > maxUnits-units16(repeatLabel) {
		how.Shrink++ // what makes it inert takes room
		return r.Part(it, offset, how)
	}
	part.Text = label + text
	part.Body = body{text: part.Text, first: offset == 0}
	return part, nil
}

// inert is text as it is sent without markup: then there is no code in which a mention would ping nobody.
func inert(text string) string { return new(htmlWriter).defang(text) }

// documents keeps parsed sources. It is safe for concurrent use; nil keeps none.
type documents struct {
	mu   sync.Mutex
	kept [4]*markup.Document
	next int
}

func (d *documents) parse(source string) *markup.Document {
	if d == nil {
		return markup.Parse(source)
	}
	if doc := d.find(source); doc != nil {
		return doc
	}
	doc := markup.Parse(source) // not under the lock: others go on meanwhile
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[d.next] = doc
	d.next = (d.next + 1) % len(d.kept)
	return doc
}

func (d *documents) find(source string) *markup.Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range d.kept {
		if doc != nil && doc.Source == source {
			return doc
		}
	}
	return nil
}

// roomFor returns how many UTF-16 units the text must leave free: for the lines above it, and to halve the part where Telegram found
// it too big.
func roomFor(head string, shrink uint8) int {
	room := units16(repeatLabel) + units16(head)
	return maxUnits - (maxUnits-room)>>min(shrink, conduit.MaxShrink)
}

// heading returns the lines that an item begins with.
func heading(it conduit.Item) string {
	switch it.Kind {
	case conduit.Attributed:
		return oneLine(it.Author) + ":\n"
	case conduit.Notice:
		return sign(it.Severity)
	}
	if late := conduit.Late(it); late != "" {
		return late + "\n"
	}
	return ""
}

// sign tells a notice from an answer at a glance. One that only informs needs none.
func sign(s loop.Severity) string {
	switch s {
	case loop.SeveritySuccess:
		return "✅ "
	case loop.SeverityWarn:
		return "⚠️ "
	case loop.SeverityError:
		return "❗ "
	}
	return ""
}

// oneLine makes a name fit into a line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(cleanText(s)), " ")
	if r := []rune(s); len(r) > maxAuthor {
		s = string(r[:maxAuthor])
	}
	if s == "" {
		return "Somebody"
	}
	return s
}

// escapeText escapes text for HTML.
func escapeText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// units16 counts UTF-16 units.
func units16(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
