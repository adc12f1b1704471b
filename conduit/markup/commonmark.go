package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// commonmark is never changed after it is made, and safe for concurrent use.
var commonmark = newCommonMark()

// newCommonMark is goldmark with tables, and with our own emphasis, tasks,
// formulas and HTML tags.
func newCommonMark() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(mathBlockParser{}, 150),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(shallow{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(taskParser{}, 50),
			util.Prioritized(mathParser{}, 60),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(boundedLinks{parser.NewLinkParser()}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(tagParser{}, 400),
			util.Prioritized(emphasisParser{}, 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(boundedDefinitions{}, 100),
			util.Prioritized(boundedTables{extension.NewTableParagraphTransformer()}, 200),
		),
	)
}

// taskParser finds the box at the start of a list item. Unlike goldmark's, it
// leaves a link with the label x alone.
type taskParser struct{}

func (taskParser) Trigger() []byte { return []byte{'['} }

func (taskParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item := parent.Parent()
	if item == nil || item.Kind() != ast.KindListItem || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 4 || line[2] != ']' || !util.IsSpace(line[3]) || !bytes.ContainsRune([]byte(" xX"), rune(line[1])) {
		return nil
	}
	block.Advance(3)
	block.SkipSpaces()
	return extast.NewTaskCheckBox(line[1] != ' ')
}

// tagParser keeps an HTML tag or comment within a line as it is, so that no
// emphasis is found in its attributes.
type tagParser struct{}

func (tagParser) Trigger() []byte { return []byte{'<'} }

func (tagParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, seg := block.PeekLine()
	n := tagLen(line[:min(len(line), maxTag)])
	if n == 0 {
		return nil
	}
	block.Advance(n)
	raw := ast.NewRawHTML()
	raw.Segments.Append(seg.WithStop(seg.Start + n))
	return raw
}

// tagLen returns the length of the HTML tag or comment that s starts with, or 0.
func tagLen(s []byte) int {
	if bytes.HasPrefix(s, []byte("<!--")) {
		if i := bytes.Index(s[4:], []byte("-->")); i >= 0 {
			return i + 7
		}
		return 0
	}
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	if i >= len(s) || !letter(s[i]) {
		return 0
	}
	var quote byte
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || quote == 0 && c == '<':
			return 0
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
