package telegram

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"orebot/conduit"
	"orebot/conduit/markup"
	"orebot/core/loop"
	"orebot/core/session"
)

const (
	// layout is the version of the way answers are split.
	layout = 2
	// repeatLabel is the line of a part that may be there already. Room for it is left in every part, so that it never changes where
	// a part ends.
	repeatLabel = "(this part may be a repeat)\n"
	// maxInline is the most bytes of a file that are shown as messages where no file is taken.
	maxInline = 40000
	// maxAuthor is the most that is shown of an author's id, in runes.
	maxAuthor = 64
)

// Renderer makes messages of items. It is a conduit.Renderer. The zero Renderer is ready, and sends an item in as many messages as it
// takes; one of NewRenderer parses less.
type Renderer struct {
	recent   *documents
	maxParts int // messages of an item, before the rest is a file; 0: no limit
}

// NewRenderer returns a Renderer that remembers the last few items it was asked about: a courier asks for each part of an item, and
// for some of them more than once. What an item has beyond maxParts messages goes into a file; 0: no limit.
func NewRenderer(maxParts int) Renderer { return Renderer{&documents{}, maxParts} }

// body is what a post needs to know of a part.
type body struct {
	text   string
	html   bool     // else plain text
	first  bool     // of its item
	silent bool     // nobody's phone rings
	offers []string // commands for buttons
	file   string   // a document's name: text is its caption then
	data   string   // a document's content
}

// Layout returns the version of the way items are split.
func (Renderer) Layout() uint16 { return layout }

// Part returns the message that shows the item from offset on.
func (r Renderer) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	switch {
	case how.Inline && it.File != "" && len(it.Source) > maxInline:
		return conduit.Part{}, fmt.Errorf("telegram: %s has %d bytes, and no file is taken", it.Turn, len(it.Source))
	case how.Inline:
	case it.File != "":
		return document(it, offset, it.File, it.Source, "", how), nil
	case r.maxParts > 0 && how.Posted >= r.messagesOf(it):
		return r.rest(it, offset, how), nil
	}
	return r.message(it, offset, how), nil
}

// message is the part as text.
func (r Renderer) message(it conduit.Item, offset int, how conduit.Shape) conduit.Part {
	head, fold := "", ""
	if offset == 0 {
		head, fold = inert(heading(it)), foldOf(it, how)
	}
	page, next := renderHTML(r.recent.parse(it.Source), offset, roomFor(head+fold, how.Shrink))
	part := conduit.Part{Offset: offset, Next: next}
	if page.HTML == "" {
		return part
	}
	label := labelOf(how)
	b := body{first: offset == 0, silent: offset > 0 || quiet(it)}
	if !how.Plain {
		part.Text = label + head + fold + page.Plain
		b.text, b.html, b.offers = escapeText(label+head)+foldedHTML(fold)+page.HTML, true, offersOf(it, next)
		part.Body = b
		return part
	}
	text := inert(head + page.Plain)
	if how.Shrink < conduit.MaxShrink && units16(text) > maxUnits-units16(repeatLabel) {
		how.Shrink++ // what makes it inert takes room
		return r.message(it, offset, how)
	}
	part.Text, b.text = label+text, label+text
	part.Body = b
	return part
}

// rest is the part that holds all that is left as a file; it has no body where no message would show any of that.
func (r Renderer) rest(it conduit.Item, offset int, how conduit.Shape) conduit.Part {
	doc := r.recent.parse(it.Source)
	if p, next := renderHTML(doc, offset, 0); p.HTML == "" {
		return conduit.Part{Offset: offset, Next: next}
	}
	left := doc.Rest(offset)
	return document(it, offset, "answer-"+it.Turn.String()+".md", left, "The rest of the answer is in this file", how)
}

// document is a part whose content is a file. Its caption says how large that is.
func document(it conduit.Item, offset int, name, data, caption string, how conduit.Shape) conduit.Part {
	part := conduit.Part{Offset: offset, Next: max(len(it.Source), offset+1)}
	if strings.TrimSpace(data) == "" {
		return part
	}
	name = fileName(name)
	if caption != "" {
		caption += ", " + sizeOf(len(data)) + "."
	} else {
		caption = name + ", " + sizeOf(len(data))
	}
	text := labelOf(how) + caption
	part.Text = text + "\n" + data
	part.Body = body{text: text, first: offset == 0, silent: offset > 0 || quiet(it), file: name, data: data}
	return part
}

// sizeOf prints a number of bytes for people.
func sizeOf(n int) string {
	if n < 1000 {
		return strconv.Itoa(n) + " bytes"
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1000)
}

// fileName keeps of a name what every system takes for one.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	if r := []rune(name); len(r) > maxAuthor {
		name = string(r[len(r)-maxAuthor:])
	}
	return name
}

func labelOf(how conduit.Shape) string {
	if how.Repeat {
		return repeatLabel
	}
	return ""
}

// quiet reports whether an item needs nobody's attention: a notice that only says that something was done, or how things are.
func quiet(it conduit.Item) bool {
	return it.Kind == conduit.Notice && it.Severity != loop.SeverityWarn && it.Severity != loop.SeverityError
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
		if it.Edited {
			return speaker(it) + ", edited:\n"
		}
		return speaker(it) + ":\n"
	case conduit.Notice:
		return sign(it.Severity)
	}
	if late := conduit.Late(it); late != "" {
		return late + "\n"
	}
	return ""
}

// speaker names who wrote something elsewhere, and where that is.
func speaker(it conduit.Item) string {
	if it.Speaker == "" {
		return oneLine(it.Author)
	}
	platform := session.Address(it.Author).Conduit()
	if platform == "" {
		return oneLine(it.Speaker)
	}
	return oneLine(it.Speaker) + " (" + oneLine(strings.ToUpper(platform[:1])+platform[1:]) + ")"
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
