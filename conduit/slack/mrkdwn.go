package slack

import (
	"strings"
	"unicode/utf8"

	"orebot/conduit/markup"
)

// maxText is how many characters one message holds. Slack recommends 4,000;
// clients fold or split longer ones, which breaks code blocks.
const maxText = 3500

// renderMrkdwn renders the part of a document that starts at a source offset as
// Slack's mrkdwn, for the text of a message without blocks. It leaves room for
// so many characters of the caller's own and returns where the next part
// starts, at least len(doc.Source) if there is none. The text is empty where
// nothing is left to show: send nothing then.
//
// Text and not markdown blocks, because a block's text is live in ways that
// nothing but escaping stops (<!channel> works in one), its limit is counted
// after rendering and over the whole message (about 13,200 characters in which
// an escaped character counts five and a heading a hundred, and 50 blocks of
// which one markdown block makes many), tables are limited to one a message,
// and every block needs the same text once more as its fallback for
// notifications and screen readers. What mrkdwn lacks is drawn: headings are
// bold, lists have bullets, tables are aligned or told row by row.
//
// Everything that Slack would act on is escaped: & < > always, so no mention,
// broadcast or date can come from a model. Links are written by this package
// alone, from an address and a label that are both made harmless. Unfurling is
// the caller's to turn off.
func renderMrkdwn(doc *markup.Document, offset, room int) (text string, next int) {
	part := doc.Next(offset, markup.Limit{
		Max: max(maxText-room, 1),
		Load: func(blocks []markup.Block) float64 {
			return float64(utf8.RuneCountInString(drawBlocks(blocks))) / float64(max(maxText-room, 1))
		},
	})
	return drawBlocks(part.Blocks), part.Next
}

// drawBlocks renders blocks as one message, whatever their length.
func drawBlocks(blocks []markup.Block) string {
	w := &mrkdwnWriter{}
	for i := range blocks {
		if i > 0 {
			w.between(&blocks[i-1], &blocks[i])
		}
		w.block(&blocks[i])
	}
	return strings.Trim(w.out.String(), " \n")
}

// between starts a new line, and leaves one blank where the document does. The
// blank line within a quote is part of it.
func (w *mrkdwnWriter) between(a, b *markup.Block) {
	w.newline()
	if !b.Gap {
		return
	}
	if q := quoteOf(a.In); q != 0 && q == quoteOf(b.In) && a.Kind != markup.CodeBlock && b.Kind != markup.CodeBlock {
		w.raw(">")
	}
	w.newline()
}

// quoteOf returns the outermost quote.
func quoteOf(in []markup.Container) int {
	for _, c := range in {
		if c.Quote {
			return c.ID
		}
	}
	return 0
}

// block draws one block.
func (w *mrkdwnWriter) block(b *markup.Block) {
	switch b.Kind {
	case markup.Rule:
		w.raw(linePrefix(b.In, true) + "———")
	case markup.CodeBlock:
		var s strings.Builder
		for _, r := range b.Runs {
			s.WriteString(r.Text)
		}
		w.fence(s.String(), b.In, b.Cont)
	case markup.Table:
		w.table(b)
	case markup.Heading:
		w.text(spansOf(b.Runs, markup.Bold), b.In, true)
	default:
		w.text(spansOf(b.Runs, 0), b.In, true)
	}
}

// linePrefix is what stands before a line: > in a quote, indentation, and the markers
// of the items that begin there. Slack knows one depth of quotes, at the start
// of a line.
func linePrefix(in []markup.Container, first bool) string {
	var quotes, items strings.Builder
	depth := 0
	for _, c := range in {
		switch {
		case c.Quote && quotes.Len() == 0:
			quotes.WriteString("> ")
		case c.Quote:
			quotes.WriteString("&gt; ")
		case first && c.First:
			items.WriteString(c.Bullet(depth) + " ")
			depth++
		default:
			items.WriteString("    ")
			depth++
		}
	}
	return quotes.String() + items.String()
}

// fence draws a code block. It stands at the margin whatever it is part of, and
// without its language, which Slack would show.
func (w *mrkdwnWriter) fence(code string, in []markup.Container, cont bool) {
	if code = strings.TrimRight(cleanText(code), " \t\n"); cont {
		code = strings.TrimLeft(code, "\n")
	}
	for _, c := range in {
		if c.First && !c.Quote {
			w.raw(strings.TrimRight(linePrefix(in, true), " "))
			w.newline()
			break
		}
	}
	if code = cleanCode(code); strings.TrimSpace(code) != "" {
		w.raw("```\n" + code + "\n```")
	}
}

// cleanCode makes text fit to stand between fences: no three backticks stand
// together in it, which takes two passes where there are more than three.
func cleanCode(code string) string {
	for range 2 {
		code = strings.ReplaceAll(code, "```", "``\u200b`")
	}
	return escaper.Replace(strings.ReplaceAll(code, "\t", "    "))
}

// table draws a table in a code block where it is narrow, else row by row: the
// first cell, and a bullet with header and value for each other one.
func (w *mrkdwnWriter) table(b *markup.Block) {
	g := b.Grid
	if g.Aligned {
		w.fence(strings.Join(g.Lines(), "\n"), b.In, false)
		return
	}
	first := true
	if names := columnNames(g); !b.Cont && len(names) > 0 {
		w.text(names, b.In, true)
		first = false
	}
	for _, row := range g.Rows {
		for i := row.From; i < len(row.Cells); i++ {
			if i > 0 && len(row.Cells[i]) == 0 { // an empty cell says nothing
				continue
			}
			if !first {
				w.newline()
			}
			w.text(cellSpans(g, row, i), b.In, first)
			first = false
		}
	}
}

// columnNames is the name of the first column, which the rows don't repeat; of
// a table without rows, all names.
func columnNames(g *markup.Grid) []span {
	var out []span
	for i, h := range g.Header {
		if i > 0 && len(g.Rows) > 0 {
			break
		}
		if i > 0 {
			out = append(out, span{text: " | "})
		}
		out = append(out, spansOf(h, markup.Italic)...)
	}
	return out
}

// cellSpans is the line of one cell.
func cellSpans(g *markup.Grid, row markup.Row, i int) []span {
	if i == 0 {
		return spansOf(row.Cells[i], markup.Bold)
	}
	out := []span{{text: "• "}}
	if i < len(g.Header) && len(g.Header[i]) > 0 {
		out = append(append(out, spansOf(g.Header[i], 0)...), span{text: ": "})
	}
	return append(out, spansOf(row.Cells[i], 0)...)
}
