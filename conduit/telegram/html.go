package telegram

import (
	"strings"
	"unicode/utf8"

	"orebot/conduit/markup"
)

// What one message of Telegram holds. The text limit is 4096 code points as the
// server counts, which 4096 UTF-16 units never exceed; of the entities only the
// first 100 take effect, and their addresses may be about 9.5 KB together; the
// parameter is refused above 32,768 bytes before it is even parsed.
const (
	maxUnits    = 4096
	maxEntities = 90
	maxBytes    = 32768
	maxURLBytes = 8000
)

// page is one message's text.
type page struct {
	HTML  string // for parse_mode HTML
	Plain string // what HTML shows, once Telegram has parsed it

	units    int // of UTF-16 in Plain
	entities int
	marks    int // about how many entities Telegram adds
	urls     int // bytes of addresses
}

// load says how full the page is, as a share of the limit it is nearest to,
// with room for so many more UTF-16 units that the caller adds as plain text.
func (p page) load(room int) float64 {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	return max(
		share(p.units, maxUnits-room),
		share(p.entities+p.marks, maxEntities),
		share(p.urls, maxURLBytes),
		share(len(p.HTML), maxBytes-5*room),
	)
}

// renderHTML renders the part of a document that starts at a source offset as
// Telegram's HTML, leaving room for so many UTF-16 units of the caller's own
// (the lines that say that an answer is late, or may be a repeat). It returns
// where the next part starts, at least len(doc.Source) if there is none. The
// page is empty where nothing is left to show: send nothing then. Parts that
// Telegram would find empty are passed over.
//
// HTML and not entities, because one bad address among entities has the whole
// message refused. Only tags that Telegram knows are written. File names of
// which Telegram would make links are code.
func renderHTML(doc *markup.Document, offset, room int) (p page, next int) {
	limit := markup.Limit{
		Max:  max(maxUnits-room, 1),
		Load: func(blocks []markup.Block) float64 { return renderBlocks(blocks).load(room) },
	}
	for {
		part := doc.Next(offset, limit)
		if p = renderBlocks(part.Blocks); p.HTML != "" || part.Next >= len(doc.Source) {
			return p, part.Next
		}
		offset = part.Next
	}
}

// renderBlocks renders blocks as one message, whatever their length.
func renderBlocks(blocks []markup.Block) page {
	w := &htmlWriter{}
	for i := range blocks {
		w.block(&blocks[i], i > 0)
	}
	w.closeQuote()
	w.shift(look{})
	w.page.HTML, w.page.Plain = w.html.String(), w.plain.String()
	return w.page
}

// block writes one block; between says that others came before it.
func (w *htmlWriter) block(b *markup.Block, between bool) {
	quote, inner := outerQuote(b.In)
	if quote != w.quote+w.wanted {
		w.closeQuote()
	}
	if between && b.Gap {
		w.space("\n\n")
	} else if between {
		w.space("\n")
	}
	w.openQuote(quote, b.In)
	switch b.Kind {
	case markup.Rule:
		w.prefix(inner, true)
		w.text("———", look{})
	case markup.CodeBlock:
		w.code(b, inner)
	case markup.Table:
		w.table(b, inner)
	case markup.Heading:
		w.prefix(inner, true)
		w.runs(b.Runs, markup.Bold, inner)
	default:
		w.prefix(inner, true)
		w.runs(b.Runs, 0, inner)
	}
}

// outerQuote finds the outermost quote, which is Telegram's block quote, and the
// containers that are drawn with characters: those within it, or all if there
// is none.
func outerQuote(in []markup.Container) (quote int, inner []markup.Container) {
	for i, c := range in {
		if c.Quote {
			return c.ID, in[i+1:]
		}
	}
	return 0, in
}

// openQuote starts a block quote, once there is text for it; the marker of an
// item that it opens stands on a line before it.
func (w *htmlWriter) openQuote(id int, in []markup.Container) {
	if id == w.quote+w.wanted {
		return
	}
	for i, c := range in {
		if c.Quote {
			if i > 0 && in[i-1].First {
				w.prefix(in[:i], true)
				w.space("\n")
			}
			break
		}
	}
	w.wanted = id
}

func (w *htmlWriter) closeQuote() {
	if w.quote != 0 {
		w.shift(look{})
		w.html.WriteString("</blockquote>")
	}
	w.quote, w.wanted = 0, 0
}

// prefix writes what stands before a line: indentation, markers of the items
// that begin here, and > for quotes within quotes.
func (w *htmlWriter) prefix(in []markup.Container, first bool) {
	depth := 0
	for _, c := range in {
		switch {
		case c.Quote:
			w.text(">", look{})
			w.space(" ")
		case first && c.First:
			w.text(c.Bullet(depth), look{})
			w.space(" ")
			depth++
		default:
			w.space("  ")
			depth++
		}
	}
}

// runs writes text; each further line of it is indented like the first.
func (w *htmlWriter) runs(runs []markup.Run, style markup.Style, in []markup.Container) {
	for i, r := range runs {
		l := lookOf(r, style)
		text := r.Text
		for {
			line, rest, more := strings.Cut(text, "\n")
			w.words(line, l)
			if !more {
				break
			}
			w.space("\n")
			w.prefix(in, false)
			text = rest
		}
		if r.Link != "" && l.url == "" && (i+1 == len(runs) || runs[i+1].Link != r.Link) {
			w.address(linkLabel(runs, i), r.Link, look{style: style})
		}
	}
}

// linkLabel is the text of the link whose last run is i.
func linkLabel(runs []markup.Run, i int) string {
	s := ""
	for j := i; j >= 0 && runs[j].Link == runs[i].Link; j-- {
		s = runs[j].Text + s
	}
	return s
}

// address writes the destination that can't be a link behind its label.
func (w *htmlWriter) address(label, url string, l look) {
	shown := strings.TrimPrefix(url, "mailto:")
	if label == shown || label == url {
		return
	}
	w.space(" ")
	w.words("("+shortURL(shown)+")", l)
}

// shortURL cuts an address that nobody would read, such as a data: URL.
func shortURL(url string) string {
	if len(url) <= 300 {
		return url
	}
	i := 80
	for !utf8.RuneStart(url[i]) {
		i--
	}
	return url[:i] + "…"
}

// code writes a code block. It stands at the margin whatever it is part of, on
// a line below the marker of an item that begins with it.
func (w *htmlWriter) code(b *markup.Block, in []markup.Container) {
	var s strings.Builder
	for _, r := range b.Runs {
		s.WriteString(r.Text)
	}
	w.pre(s.String(), b.Lang, b.Cont, in)
}

// pre writes text in a fixed-width font.
func (w *htmlWriter) pre(text, lang string, cont bool, in []markup.Container) {
	if text = strings.TrimRight(cleanText(strings.ReplaceAll(text, "\t", "    ")), " \n"); cont {
		text = strings.TrimLeft(text, "\n")
	}
	if showsMarker(in) {
		w.prefix(in, true)
		w.space("\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	w.shift(look{})
	w.flush()
	if lang == "" {
		w.tag("<pre>")
		w.put(text)
		w.html.WriteString("</pre>")
	} else {
		w.tag(`<pre><code class="language-` + attrEscaper.Replace(lang) + `">`)
		w.put(text)
		w.html.WriteString("</code></pre>")
	}
}

// showsMarker says whether the first line shows a marker.
func showsMarker(in []markup.Container) bool {
	for _, c := range in {
		if c.First && !c.Quote {
			return true
		}
	}
	return false
}
