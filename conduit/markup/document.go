package markup

import (
	"strconv"
	"unicode/utf8"
)

// Style is a set of flags: what a run looks like.
type Style uint8

// The styles of a run. Code excludes no other flag; a platform that can't
// combine them shows Code alone.
const (
	Bold Style = 1 << iota
	Italic
	Strike
	Code
)

// Run is a stretch of text of one style with one link.
type Run struct {
	Text  string
	Style Style
	Link  string // destination, decoded, not validated; empty: no link
	// Source and End are the bytes of the Markdown source that the run stands
	// for. Runs of a Document are in order and don't overlap, and End > Source
	// even where Text is empty (an empty list item, a rule).
	Source, End int
	// Literal says that Text equals the source from Source to End byte for
	// byte, so that a cut inside the run is a place in the source too.
	Literal bool
}

// Kind tells blocks apart.
type Kind uint8

// The kinds of blocks. Raw HTML is a Paragraph of its own text.
const (
	Paragraph Kind = iota
	Heading
	CodeBlock
	Table
	Rule
)

// Task is the state of a task list item's box.
type Task uint8

// The states of a box; most items have none.
const (
	NoTask Task = iota
	OpenTask
	DoneTask
)

// Container is one quote or list item around a block.
type Container struct {
	ID      int  // distinguishes neighbours; unique in a Document
	Quote   bool // a block quote; else a list item
	Ordered bool
	Number  int // of an ordered item
	Delim   byte
	Task    Task
	// First is set on the first block of an item: the one that shows its marker.
	First bool
}

// Bullet is what the item begins with on a platform that shows no lists of its own; depth counts the items around it.
func (c Container) Bullet(depth int) string {
	switch {
	case c.Task == DoneTask:
		return "☑"
	case c.Task == OpenTask:
		return "☐"
	case c.Ordered:
		return strconv.Itoa(c.Number) + string(rune(c.Delim))
	case depth%2 == 1:
		return "◦"
	}
	return "•"
}

// Block is a leaf of the document with the containers it stands in.
type Block struct {
	Kind  Kind
	In    []Container // outermost first
	Gap   bool        // a blank line, not just a new line, sets it off from the block before
	Level int         // of a heading, 1 to 6
	Lang  string      // of a code block: the first word of its info string
	Runs  []Run       // at least one, except in a table
	Grid  *Grid       // of a table
	Cont  bool        // goes on from a part before

	start, end int // source span
	before     int // runes of text in the document before this block
	size       int // runes of text in it
}

// Document is a parsed answer. It is immutable.
type Document struct {
	Source string
	Blocks []Block

	total   int // runes of text
	visible int // source offset behind which nothing can be seen
}

// Blank says that the document shows nothing: sending it would be refused.
func (d *Document) Blank() bool { return d.visible == 0 }

// Text returns the text of all blocks, without decoration: no markers, rules or
// link destinations. Blocks and cells are set apart by a new line.
func (d *Document) Text() string { return TextOf(d.Blocks) }

// TextOf returns the text of blocks as Document.Text does.
func TextOf(blocks []Block) string {
	var out []byte
	for i := range blocks {
		blocks[i].groups(func(runs []Run) {
			for _, r := range runs {
				out = append(out, r.Text...)
			}
			out = append(out, '\n')
		})
	}
	return string(out)
}

// groups calls f for each sequence of runs that forms one text: the block's
// own, or the cells of its table in order.
func (b *Block) groups(f func(runs []Run)) {
	if b.Grid == nil {
		f(b.Runs)
		return
	}
	if !b.Cont {
		for _, c := range b.Grid.Header {
			f(c)
		}
	}
	for _, row := range b.Grid.Rows {
		for _, c := range row.Cells[row.From:] {
			f(c)
		}
	}
}

// measure fills in the block's span and size, and says whether it shows
// anything.
func (b *Block) measure() (visible bool) {
	b.start, b.end, b.size = -1, 0, 0
	visible = b.Kind == Rule
	for _, c := range b.In {
		visible = visible || c.First && !c.Quote
	}
	b.groups(func(runs []Run) {
		for _, r := range runs {
			if b.start < 0 {
				b.start = r.Source
			}
			b.end = r.End
			b.size += utf8.RuneCountInString(r.Text)
			visible = visible || !blank(r.Text)
		}
	})
	return visible
}

// finish computes what Next needs to know about the whole document.
func (d *Document) finish() {
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.measure() {
			d.visible = b.end
		}
		b.before = d.total
		d.total += b.size
	}
}
