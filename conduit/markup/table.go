package markup

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// GridColumns is how wide, in columns of a fixed-width font, a table may be to
// be shown aligned: a phone held upright shows about that many.
const GridColumns = 40

// Align is the alignment of a column.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
	Center
)

// Cell is the text of one cell; an empty one has no runs.
type Cell = []Run

// Row is a row of a table's body. Of a row that was cut, From is the first cell
// that belongs to this part, and the cells behind the cut are missing.
type Row struct {
	Cells []Cell
	From  int
}

// Grid is a table. Widths and Aligned come from the whole table, so that each
// part of one that is cut looks the same.
type Grid struct {
	Header []Cell
	Align  []Align
	Rows   []Row
	Widths []int // display width of each column
	// Aligned says that the table fits GridColumns and that its plain text says
	// all: no cell has a link or a line break.
	Aligned bool
}

// table adds a table; one without a sane header becomes text.
func (b *builder) table(n *extast.Table) {
	g := &Grid{}
	b.cell = true
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		if r.Kind() == extast.KindTableHeader {
			g.Header = b.cells(r)
			continue
		}
		row := Row{Cells: b.cells(r)}
		b.fill(&row, r.Pos())
		g.Rows = append(g.Rows, row)
	}
	b.cell = false
	for _, a := range n.Alignments {
		g.Align = append(g.Align, alignment(a))
	}
	if g.plain() {
		b.asText(g)
		return
	}
	g.lay()
	b.block(Block{Kind: Table, Grid: g})
}

func alignment(a extast.Alignment) Align {
	switch a {
	case extast.AlignRight:
		return Right
	case extast.AlignCenter:
		return Center
	}
	return Left
}

// cells reads the cells of a row.
func (b *builder) cells(r ast.Node) []Cell {
	out := make([]Cell, 0, r.ChildCount())
	for c := r.FirstChild(); c != nil; c = c.NextSibling() {
		b.inlines(c)
		if c.NextSibling() == nil && c.Lines().Len() > 0 {
			b.excess(c.Lines().At(0).Stop)
		}
		out = append(out, b.runs)
		b.runs = nil
	}
	return out
}

// excess keeps what stands in a row behind its last column, which goldmark
// drops: it is there where a model forgot to escape a pipe.
func (b *builder) excess(i int) {
	j := i
	for j < len(b.bytes) && b.bytes[j] != '\n' {
		j++
	}
	if rest := strings.TrimRight(string(b.bytes[i:j]), "| \t"); rest != "" {
		b.literal(i, i+len(rest))
	}
}

// fill gives a row without any text a place in the source.
func (b *builder) fill(r *Row, at int) {
	for _, c := range r.Cells {
		if len(c) > 0 {
			return
		}
	}
	b.mark(at)
	r.Cells = append([]Cell{b.runs}, r.Cells[min(1, len(r.Cells)):]...)
	b.runs = nil
}

// plain says that the table has no header to speak of, or one too large to be
// repeated: in its text, its looks or its addresses.
func (g *Grid) plain() bool {
	n, looks, links := 0, 0, 0
	for _, c := range g.Header {
		n += utf8.RuneCountInString(cellText(c))
		for _, r := range c {
			look := bits.OnesCount8(uint8(r.Style))
			if r.Link != "" {
				look++
			}
			looks += max(look, 1)
			links += len(r.Link)
		}
	}
	return n == 0 && len(g.Rows) == 0 || n > maxHeader || looks > maxNames || links > maxLinked
}

// asText adds each row as a paragraph.
func (b *builder) asText(g *Grid) {
	rows := append([]Row{{Cells: g.Header}}, g.Rows...)
	for _, r := range rows {
		for _, c := range r.Cells {
			b.runs = append(b.runs, c...)
		}
		b.block(Block{Kind: Paragraph})
	}
}

// lay computes the widths, and whether the table can be shown aligned.
func (g *Grid) lay() {
	g.Widths = make([]int, len(g.Header))
	g.Aligned = true
	for i, c := range g.Header {
		g.see(i, c)
	}
	for _, r := range g.Rows {
		for i, c := range r.Cells[:min(len(r.Cells), len(g.Widths))] {
			g.see(i, c)
		}
	}
	total := 3 * (len(g.Widths) - 1)
	for _, w := range g.Widths {
		total += w
	}
	g.Aligned = g.Aligned && total <= GridColumns
}

// see takes one cell into account.
func (g *Grid) see(col int, c Cell) {
	s := cellText(c)
	g.Widths[col] = max(g.Widths[col], uniseg.StringWidth(s))
	for _, r := range c {
		if r.Link != "" && r.Link != r.Text || strings.ContainsAny(r.Text, "\n\t") {
			g.Aligned = false
		}
	}
}

func cellText(c Cell) string {
	if len(c) == 1 {
		return c[0].Text
	}
	var s strings.Builder
	for _, r := range c {
		s.WriteString(r.Text)
	}
	return s.String()
}

// Lines draws an aligned table: header, rule, rows, without trailing spaces.
func (g *Grid) Lines() []string {
	out := make([]string, 0, len(g.Rows)+2)
	out = append(out, g.line(g.Header), g.rule())
	for _, r := range g.Rows {
		out = append(out, g.line(r.Cells))
	}
	return out
}

func (g *Grid) line(cells []Cell) string {
	var s strings.Builder
	for i, w := range g.Widths {
		text := ""
		if i < len(cells) {
			text = cellText(cells[i])
		}
		if i > 0 {
			s.WriteString(" | ")
		}
		g.pad(&s, text, w-uniseg.StringWidth(text), i)
	}
	return strings.TrimRight(s.String(), " ")
}

// pad writes a cell's text with the spaces its column needs.
func (g *Grid) pad(s *strings.Builder, text string, space, col int) {
	space = max(space, 0)
	left := 0
	if col < len(g.Align) && g.Align[col] == Right {
		left = space
	} else if col < len(g.Align) && g.Align[col] == Center {
		left = space / 2
	}
	s.WriteString(strings.Repeat(" ", left))
	s.WriteString(text)
	s.WriteString(strings.Repeat(" ", space-left))
}

// rule is the line under the header.
func (g *Grid) rule() string {
	var s strings.Builder
	for i, w := range g.Widths {
		if i > 0 {
			s.WriteString("-+-")
		}
		s.WriteString(strings.Repeat("-", w))
	}
	return s.String()
}
