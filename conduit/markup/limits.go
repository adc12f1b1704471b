package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds that keep parsing linear and recursion shallow whatever a model
// writes. Beyond them, markup is text.
const (
	maxDepth      = 10   // quotes and lists around a block
	maxDelimiters = 1000 // emphasis delimiters in one paragraph
	maxBrackets   = 500  // link openers in one paragraph
	maxMath       = 2000 // bytes of one formula
	maxTag        = 1000 // bytes of one HTML tag
	maxDefinition = 1000 // lines of a paragraph that may define links
	maxHeader     = 250  // runes in a table's header; a larger table is text
	maxNames      = 40   // runs in a table's header, each as often as it has styles and links
	maxLinked     = 2000 // bytes of addresses in a table's header
	maxEmpty      = 5000 // cells of a table that the source has no text for; a table with more is text
)

// shallow keeps a container parser from opening more than maxDepth deep.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindBlockquote || n.Kind() == ast.KindListItem {
			depth++
		}
	}
	if depth >= maxDepth {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, r, pc)
}

// budget counts what was opened in the block that is being parsed.
type budget struct {
	parent ast.Node
	n      int
}

// spend takes one from the budget of parent under key, up to limit.
func spend(pc parser.Context, key parser.ContextKey, parent ast.Node, limit int) bool {
	b, _ := pc.Get(key).(*budget)
	if b == nil {
		b = &budget{}
		pc.Set(key, b)
	}
	if b.parent != parent {
		b.parent, b.n = parent, 0
	}
	b.n++
	return b.n <= limit
}

var bracketBudget = parser.NewContextKey()

// boundedLinks is goldmark's link parser within maxBrackets.
type boundedLinks struct{ parser.InlineParser }

func (l boundedLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if line[0] != ']' && !spend(pc, bracketBudget, parent, maxBrackets) {
		return nil
	}
	return l.InlineParser.Parse(parent, block, pc)
}

// CloseBlock hands goldmark's end of a block on.
func (l boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	l.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// boundedDefinitions is goldmark's search for link definitions, in paragraphs
// of up to maxDefinition lines.
type boundedDefinitions struct{}

func (boundedDefinitions) Transform(p *ast.Paragraph, r text.Reader, pc parser.Context) {
	if p.Lines().Len() <= maxDefinition {
		parser.LinkReferenceParagraphTransformer.Transform(p, r, pc)
	}
}

// boundedTables is goldmark's search for tables, of which those are text that are nearly empty: each row gets as many cells as the
// header has, so that a few bytes a row would make thousands.
type boundedTables struct{ parser.ParagraphTransformer }

func (t boundedTables) Transform(p *ast.Paragraph, r text.Reader, pc parser.Context) {
	if emptyCells(p.Lines(), r.Source()) <= maxEmpty {
		t.ParagraphTransformer.Transform(p, r, pc)
	}
}

// emptyCells counts the cells without text that a paragraph would have as a table.
func emptyCells(lines *text.Segments, src []byte) int {
	columns := 0
	for i := range lines.Len() {
		s := lines.At(i)
		if line := s.Value(src); len(bytes.Trim(line, "-|: \t\r\n")) == 0 {
			columns = max(columns, filled(line))
		}
	}
	n := columns * lines.Len()
	for i := 0; i < lines.Len() && n > maxEmpty; i++ {
		s := lines.At(i)
		n -= min(filled(s.Value(src)), columns)
	}
	return n
}

// filled counts the cells of a row that aren't blank.
func filled(line []byte) int {
	n := 0
	for cell := range bytes.SplitSeq(line, []byte("|")) {
		if !util.IsBlank(cell) {
			n++
		}
	}
	return n
}
