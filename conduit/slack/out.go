package slack

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"orebot/conduit"
	"orebot/conduit/markup"
	"orebot/core/loop"
	"orebot/core/session"
)

// layoutVersion goes up whenever parts are cut in another way.
const layoutVersion = 1

// repeatLabel is the first line of a part that may be there already.
const repeatLabel = "(this part may be a repeat)\n"

// headRoom bounds what stands before an item's first part.
const headRoom = 100

// body is what a part's post needs.
type body struct {
	text  string
	plain bool // without markup
}

// Renderer makes Slack's mrkdwn of items. The zero Renderer is ready; one of NewRenderer parses less.
type Renderer struct {
	last *atomic.Pointer[markup.Document]
}

// NewRenderer returns a Renderer that remembers the source it was last asked about: a courier asks for each part of an item, and for
// some of them more than once.
func NewRenderer() Renderer { return Renderer{&atomic.Pointer[markup.Document]{}} }

// Layout returns the version of the way items are split.
func (Renderer) Layout() uint16 { return layoutVersion }

// Part returns a piece of the item that Slack neither folds nor splits. Room for the repeat label is always left.
func (r Renderer) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	room := len(repeatLabel) + headRoom + maxText - maxText>>min(how.Shrink, conduit.MaxShrink)
	var text string
	next := offset
	if how.Plain {
		text, next = plainPart(it.Source, offset, maxText-room)
	} else {
		text, next = renderMrkdwn(r.parse(it.Source), offset, room)
	}
	p := conduit.Part{Offset: offset, Next: next}
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	if offset == 0 {
		text = join(headOf(it), text)
	}
	if how.Repeat {
		text = repeatLabel + text
	}
	p.Text, p.Body = text, body{text: text, plain: how.Plain}
	return p, nil
}

// parse parses a source, unless it was the last one.
func (r Renderer) parse(source string) *markup.Document {
	if r.last == nil {
		return markup.Parse(source)
	}
	doc := r.last.Load()
	if doc == nil || doc.Source != source {
		doc = markup.Parse(source)
		r.last.Store(doc)
	}
	return doc
}

// headOf is what an item opens with: a notice its sign, what was written elsewhere its author, a late answer the question's age.
func headOf(it conduit.Item) string {
	switch it.Kind {
	case conduit.Notice:
		return signOf(it.Severity)
	case conduit.Attributed:
		from, id, _ := strings.Cut(it.Author, ":")
		if id == "" {
			return "*Somebody* wrote elsewhere:"
		}
		return "*" + nameOf(id) + "* wrote on " + nameOf(from) + ":"
	}
	if late := conduit.Late(it); late != "" {
		return late + "\n"
	}
	return ""
}

// signOf tells notices by their severity.
func signOf(s loop.Severity) string {
	switch s {
	case loop.SeveritySuccess:
		return "✅"
	case loop.SeverityWarn:
		return "⚠️"
	case loop.SeverityError:
		return "❌"
	}
	return "ℹ️"
}

// nameOf is an id as it may stand between asterisks.
func nameOf(id string) string {
	id = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~`<>&\n", r) {
			return -1
		}
		return r
	}, printable(id))
	if r := []rune(id); len(r) > headRoom/3 {
		return string(r[:headRoom/3])
	}
	return id
}

// join puts a head before a text, on a line of its own where the text needs the line's start.
func join(head, text string) string {
	switch {
	case head == "", strings.HasSuffix(head, "\n"):
		return head + text
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, ">"), strings.HasPrefix(text, "&gt;"):
		return head + "\n" + text
	}
	return head + " " + text
}

// plainPart returns the piece of a source that begins at offset and is shown as it stands, in at most limit characters once it is
// escaped. It ends after a blank where there is one in its second half.
func plainPart(source string, offset, limit int) (text string, next int) {
	rest := source[min(max(offset, 0), len(source)):]
	end, blank, n := 0, 0, 0
	for i, r := range rest {
		size := utf8.RuneLen(max(r, 0))
		if r == utf8.RuneError {
			size = 1
		}
		if n += len(escaper.Replace(string(r))) - len(string(r)) + 1; n > limit && i > 0 {
			break
		}
		end = i + size
		if r == ' ' || r == '\n' || r == '\t' {
			blank = end
		}
	}
	if end = min(end, len(rest)); end < len(rest) && blank > end/2 {
		end = blank
	}
	return escaper.Replace(strings.Trim(printable(rest[:end]), "\n")), offset + max(end, 1)
}

// printable replaces control characters by blanks and drops what turns the writing direction.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r == 0x7f:
			return ' '
		case r >= 0x202a && r <= 0x202e:
			return -1
		}
		return r
	}, s)
}

// paceOf is the limit that a post to an address falls under: one message a second in each channel, in short bursts.
func paceOf(a session.Address) (string, conduit.Rate) {
	return channelOf(a), conduit.Rate{Limit: 1, Burst: 3}
}

// channelOf is what Slack limits together: a channel with all its threads.
func channelOf(a session.Address) string {
	p, _ := parsePlace(a)
	return p.channel
}

// paceAll is the limit of a workspace, "several hundred" posts a minute.
func paceAll() conduit.Rate { return conduit.Rate{Limit: 5, Burst: 20} }
