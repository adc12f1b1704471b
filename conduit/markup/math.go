package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// mathParser keeps formulas inside a line from being read as Markdown: $…$,
// $$…$$, \(…\) and \[…\] become code. Money, shell variables and escaped
// brackets are left alone.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$', '\\'} }

func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, seg := block.PeekLine()
	line = line[:min(len(line), maxMath)]
	open, end := 0, -1
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		open, end = 2, bytes.Index(line[2:], []byte("$$"))
	case line[0] == '$':
		open, end = 1, dollarEnd(line[1:], before)
	case bytes.HasPrefix(line, []byte(`\(`)):
		open, end = 2, bytes.Index(line[2:], []byte(`\)`))
	case bytes.HasPrefix(line, []byte(`\[`)):
		open, end = 2, bracketEnd(line[2:])
	}
	if end < 0 || util.IsBlank(line[open:open+end]) {
		return nil
	}
	block.Advance(open + end + open)
	span := ast.NewCodeSpan()
	start := seg.Start + open
	inner := text.NewSegment(start, start+end)
	inner = inner.TrimLeftSpace(block.Source())
	inner = inner.TrimRightSpace(block.Source())
	span.AppendChild(span, ast.NewRawTextSegment(inner))
	return span
}

// dollarEnd finds the dollar that closes a formula. The opening one follows no
// letter or digit and precedes no space, the closing one the other way round,
// so that "$5 and $10", "$HOME/$USER" and "US$5/US$6" aren't formulas.
func dollarEnd(s []byte, before rune) int {
	if before < 0x80 && (word(byte(before)) || before == '$') || len(s) == 0 || util.IsSpace(s[0]) {
		return -1
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n', '`':
			return -1
		case '$':
			if i == 0 || util.IsSpace(s[i-1]) || i+1 < len(s) && word(s[i+1]) {
				return -1
			}
			return i
		}
	}
	return -1
}

// bracketEnd finds the end of \[…\] within a line, where what is between looks
// like a formula; else it is a pair of escaped brackets, for instance of a link
// that should not be one.
func bracketEnd(s []byte) int {
	end := bytes.Index(s, []byte(`\]`))
	if end < 0 || !bytes.ContainsAny(s[:end], `\^_={}`) || bytes.HasPrefix(s[end+2:], []byte("(")) {
		return -1
	}
	return end
}

func word(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '_' }

// mathBlock is a formula that stands on lines of its own.
type mathBlock struct {
	ast.BaseBlock
	closer []byte
	closed bool
}

var kindMathBlock = ast.NewNodeKind("MathBlock")

// Kind implements ast.Node.
func (*mathBlock) Kind() ast.NodeKind { return kindMathBlock }

// IsRaw implements ast.Node: there is no Markdown in a formula.
func (*mathBlock) IsRaw() bool { return true }

// Dump implements ast.Node.
func (m *mathBlock) Dump(src []byte, level int) { ast.DumpHelper(m, src, level, nil, nil) }

// mathBlockParser finds formulas that start a line with $$ or \[ and end, before
// a blank line, at the end of one.
type mathBlockParser struct{}

func (mathBlockParser) Trigger() []byte                             { return []byte{'$', '\\'} }
func (mathBlockParser) CanInterruptParagraph() bool                 { return true }
func (mathBlockParser) CanAcceptIndentedLine() bool                 { return false }
func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

func (mathBlockParser) closerOf(line []byte) []byte {
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		return []byte("$$")
	case bytes.HasPrefix(line, []byte(`\[`)):
		return []byte(`\]`)
	}
	return nil
}

func (p mathBlockParser) Open(_ ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, seg := r.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || pos >= len(line) || seg.Padding > 0 {
		return nil, parser.NoChildren
	}
	m := &mathBlock{closer: p.closerOf(line[pos:])}
	if m.closer == nil || !m.closes(r.Source()[seg.Start+pos+2:]) {
		return nil, parser.NoChildren
	}
	m.take(line[pos+2:], seg.Start+pos+2)
	r.AdvanceToEOL()
	return m, parser.NoChildren
}

func (mathBlockParser) Continue(n ast.Node, r text.Reader, _ parser.Context) parser.State {
	m := n.(*mathBlock)
	line, seg := r.PeekLine()
	if m.closed || line == nil || util.IsBlank(line) {
		return parser.Close
	}
	m.take(line[seg.Padding:], seg.Start)
	r.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// closes says whether the closer ends a line before the next blank one.
func (m *mathBlock) closes(rest []byte) bool {
	rest = rest[:min(len(rest), maxMath)]
	for first := true; len(rest) > 0; first = false {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if i := bytes.Index(line, m.closer); i >= 0 {
			return len(bytes.Trim(line[i+2:], " \t.,;")) == 0
		}
		if !first && util.IsBlank(line) {
			return false
		}
		rest = after
	}
	return false
}

// take adds a line, without its closer, at a place in the source.
func (m *mathBlock) take(line []byte, at int) {
	end := bytes.Index(line, m.closer)
	if end < 0 {
		end = len(line)
	}
	start, stop := 0, end
	if m.Lines().Len() == 0 {
		start = util.TrimLeftSpaceLength(line[:end])
	}
	if end < len(line) {
		stop -= util.TrimRightSpaceLength(line[:end])
	}
	if start < stop && !util.IsBlank(line[start:stop]) {
		m.Lines().Append(text.NewSegment(at+start, at+stop))
	}
	if end == len(line) {
		return
	}
	m.closed = true
	if rest := line[end+2:]; !util.IsBlank(rest) {
		m.Lines().Append(text.NewSegment(at+end+2, at+len(line)))
	}
}
