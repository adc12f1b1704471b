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
const layoutVersion = 2

// repeatLabel is the first line of a part that may be there already.
const repeatLabel = "(this part may be a repeat)\n"

// headRoom bounds what stands before an item's first part.
const headRoom = 100

// body is what a part's post needs. It is comparable, as Parts are.
type body struct {
	text   string
	plain  bool   // without markup
	offers string // the commands whose buttons stand below, with blanks between them
	file   file   // the text announces it; nameless: none
	folded string // what the model thought, without markup, to be shown folded below; empty: nothing
}

// Renderer makes Slack's mrkdwn of items, and files of what is too long. The zero Renderer makes no files of answers; one of
// NewRenderer parses less.
type Renderer struct {
	last     *atomic.Pointer[markup.Document]
	maxParts int // messages of an item, before the rest becomes a file; 0: any number
}

// NewRenderer returns a Renderer that makes a file of what is left of an item after so many messages, 0 for never. It remembers the
// source it was last asked about: a courier asks for each part of an item, and for some of them more than once.
func NewRenderer(maxParts int) Renderer {
	return Renderer{&atomic.Pointer[markup.Document]{}, maxParts}
}

// Layout returns the version of the way items are split.
func (Renderer) Layout() uint16 { return layoutVersion }

// Part returns a piece of the item that Slack neither folds nor splits. Room for the repeat label is always left.
func (r Renderer) Part(it conduit.Item, offset int, how conduit.Shape) (conduit.Part, error) {
	if r.wantsFile(it, offset, how) {
		if p := r.filePart(it, offset, how); p.Body != nil {
			return p, nil
		}
	}
	room := roomOf(it, how)
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
	b := body{text: text, plain: how.Plain}
	if next >= len(it.Source) && !how.Plain {
		b.offers = strings.Join(offersOf(it), " ")
	}
	if offset == 0 && !how.Plain && how.Shrink == 0 {
		b.folded = foldedOf(it)
	}
	p.Text, p.Body = text, b
	return p, nil
}

// roomOf is how many characters of a message the source can't have: what may stand before it, what a block takes less than a
// message, and what Slack found too much.
func roomOf(it conduit.Item, how conduit.Shape) int {
	most := maxText
	if len(offersOf(it)) > 0 {
		most = maxSection
	}
	return len(repeatLabel) + headRoom + maxText - most>>min(how.Shrink, conduit.MaxShrink)
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
		return attribution(it)
	}
	if late := conduit.Late(it); late != "" {
		return late + "\n"
	}
	return ""
}

// platformNames are how people call what addresses begin with.
var platformNames = map[string]string{"slack": "Slack", "telegram": "Telegram"}

// attribution says who wrote an item elsewhere: by name where that is known.
func attribution(it conduit.Item) string {
	from, id, _ := strings.Cut(it.Author, ":")
	who := nameOf(it.Speaker)
	if strings.TrimSpace(who) == "" {
		who = nameOf(id)
	}
	if who = strings.TrimSpace(who); who == "" {
		return "*Somebody* wrote elsewhere" + edited(it) + ":"
	}
	if name := platformNames[from]; name != "" {
		from = name
	}
	return "*" + who + "* wrote on " + nameOf(from) + edited(it) + ":"
}

// edited says that something was shown in other words before.
func edited(it conduit.Item) string {
	if it.Edited {
		return " (edited)"
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
