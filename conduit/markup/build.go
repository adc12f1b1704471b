package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// builder walks goldmark's tree and writes the flat document.
type builder struct {
	src   *normal
	bytes []byte // src.text, as goldmark wants it
	doc   *Document
	in    []Container
	gap   bool
	runs  []Run
	end   int // source end of the last run
	ids   int
	used  map[string]bool // link definitions that a link uses
	style Style           // of the text being read
	link  string
	cell  bool // in a table cell, where code escapes its pipes
}

func newBuilder(n *normal) *builder {
	return &builder{src: n, bytes: []byte(n.text), doc: &Document{Source: n.from}}
}

// children adds what stands in a container. The first child inherits the gap
// before the container; the others are set off as the container says.
func (b *builder) children(n ast.Node) {
	gap := !tight(n)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil {
			b.gap = gap
		}
		b.node(c)
	}
}

func tight(n ast.Node) bool {
	if n.Kind() == ast.KindListItem {
		n = n.Parent()
	}
	l, ok := n.(*ast.List)
	return ok && l.IsTight
}

// node adds one block node.
func (b *builder) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		b.inlines(n)
		b.block(Block{Kind: Heading, Level: n.Level})
	case *ast.ThematicBreak:
		b.mark(n.Pos())
		b.block(Block{Kind: Rule})
	case *ast.FencedCodeBlock:
		b.code(n, b.lang(n.Info))
	case *ast.CodeBlock, *mathBlock:
		b.code(n, "")
	case *ast.HTMLBlock:
		b.html(n)
	case *ast.LinkReferenceDefinition:
		b.definition(n)
	case *ast.Blockquote:
		b.within(Container{Quote: true}, n)
	case *ast.List:
		b.list(n)
	case *extast.Table:
		b.table(n)
	default:
		b.inlines(n)
		b.block(Block{Kind: Paragraph})
	}
}

// within adds the blocks of a container.
func (b *builder) within(c Container, n ast.Node) {
	b.ids++
	c.ID, c.First = b.ids, true
	b.in = append(b.in, c)
	if n.HasChildren() {
		b.children(n)
	} else if !c.Quote { // an empty item keeps its marker
		b.mark(n.Pos())
		b.block(Block{Kind: Paragraph})
	}
	b.in = b.in[:len(b.in)-1]
}

// list adds the items of a list.
func (b *builder) list(n *ast.List) {
	c := Container{Ordered: n.IsOrdered(), Delim: n.Marker, Number: n.Start}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			b.gap = !n.IsTight
			c.Number++
		}
		b.within(c, item)
	}
}

// block ends the block whose runs were added, unless there are none.
func (b *builder) block(bl Block) {
	bl.Runs = trimEnd(b.runs)
	b.runs = nil
	if len(bl.Runs) == 0 && bl.Grid == nil {
		return
	}
	bl.In = append([]Container(nil), b.in...)
	bl.Gap = b.gap
	b.doc.Blocks = append(b.doc.Blocks, bl)
	for i := range b.in {
		b.in[i].First = false
	}
	b.gap = true
}

// trimEnd takes the last line break off a block.
func trimEnd(runs []Run) []Run {
	for len(runs) > 0 {
		r := &runs[len(runs)-1]
		s := strings.TrimSuffix(r.Text, "\n")
		if len(s) == len(r.Text) {
			break
		}
		if s != "" || len(runs) == 1 {
			r.End = max(r.End-1, r.Source+1)
			r.Text, r.Literal = s, r.Literal && s != ""
			break
		}
		runs = runs[:len(runs)-1]
	}
	return runs
}

// code adds the lines of a code block or formula.
func (b *builder) code(n ast.Node, lang string) {
	b.lines(n.Lines())
	if len(b.runs) == 0 {
		b.mark(n.Pos())
	}
	b.block(Block{Kind: CodeBlock, Lang: lang})
}

// lines adds source lines as they are.
func (b *builder) lines(ls *text.Segments) {
	for i := range ls.Len() {
		b.segment(ls.At(i))
	}
}

// segment adds a stretch of the source, with the part of a tab that is left
// before it.
func (b *builder) segment(s text.Segment) {
	if s.Padding > 0 && s.Start > 0 && b.bytes[s.Start-1] == '\t' {
		at := b.src.source(s.Start - 1)
		b.add(Run{Text: strings.Repeat(" ", s.Padding), Source: at, End: at + 1})
	}
	b.literal(s.Start, s.Stop)
}

// lang is the first word of a fence's info string, if it looks like a language.
func (b *builder) lang(info *ast.Text) string {
	if info == nil || info.Segment.Start < 0 || info.Segment.Stop > len(b.bytes) || info.Segment.Start >= info.Segment.Stop {
		return ""
	}
	s := strings.Trim(string(b.bytes[info.Segment.Start:info.Segment.Stop]), " \t{")
	end := 0
	for end < len(s) && (word(s[end]) || strings.IndexByte("+#.-", s[end]) >= 0) {
		end++
	}
	if end > 30 || end < len(s) && strings.IndexByte(" \t,{}:=", s[end]) < 0 {
		return ""
	}
	return s[:end]
}

// html adds an HTML block as text; <br> is a line break.
func (b *builder) html(n *ast.HTMLBlock) {
	for i := range n.Lines().Len() {
		b.htmlText(n.Lines().At(i))
	}
	if n.HasClosure() {
		b.htmlText(n.ClosureLine)
	}
	b.block(Block{Kind: Paragraph})
}

func (b *builder) htmlText(s text.Segment) {
	i := s.Start
	for j := i; j < s.Stop; j++ {
		if b.bytes[j] != '<' {
			continue
		}
		if n := tagLen(b.bytes[j:min(s.Stop, j+maxTag)]); isBreak(b.bytes[j : j+n]) {
			b.literal(i, j)
			b.replace(j, j+n, "\n")
			i = j + n
			j = i - 1
		}
	}
	b.literal(i, s.Stop)
}

// isBreak says whether a tag is <br> in one of its spellings.
func isBreak(tag []byte) bool {
	s := strings.ToLower(string(tag[:min(len(tag), 8)]))
	return s == "<br>" || s == "<br/>" || s == "<br />"
}

// definition keeps a link definition that no link uses: more often than not it
// is a sentence that only looks like one ("[Note]: this").
func (b *builder) definition(n *ast.LinkReferenceDefinition) {
	if b.used == nil {
		b.used = map[string]bool{}
		b.findUses(n.OwnerDocument())
	}
	if b.used[util.ToLinkReference(n.Label)] {
		return
	}
	b.lines(n.Lines())
	b.block(Block{Kind: Paragraph})
}

// findUses notes which definitions links refer to.
func (b *builder) findUses(n ast.Node) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		ref := (*ast.ReferenceLink)(nil)
		switch l := n.(type) {
		case *ast.Link:
			ref = l.Reference
		case *ast.Image:
			ref = l.Reference
		}
		if entering && ref != nil {
			b.used[util.ToLinkReference(ref.Value)] = true
		}
		return ast.WalkContinue, nil
	})
}
