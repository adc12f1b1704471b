package markup

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// emphasisParser finds the delimiters *, _ and ~~. It differs from CommonMark
// where that fails people: a letter of a script without spaces counts like
// punctuation when it stands beside a delimiter with punctuation on the other
// side, so that **粗体：**文 is bold, and only a double tilde strikes through,
// so that "3~5 or 6~8" stays a pair of ranges.
type emphasisParser struct{}

var delimiterBudget = parser.NewContextKey()

func (emphasisParser) Trigger() []byte { return []byte{'*', '_', '~'} }

func (emphasisParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, seg := block.PeekLine()
	c, n := line[0], 1
	for n < len(line) && line[n] == c {
		n++
	}
	if c == '~' && (n != 2 || before == '~') || !spend(pc, delimiterBudget, parent, maxDelimiters) {
		return nil
	}
	after, _ := utf8.DecodeRune(line[n:])
	if n == len(line) {
		after = ' '
	}
	canOpen, canClose := flanks(c, before, after)
	d := parser.NewDelimiter(canOpen, canClose, n, c, spanner(c))
	d.Segment = seg.WithStop(seg.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

// flanks says whether a run of c between two characters may open and close.
func flanks(c byte, before, after rune) (canOpen, canClose bool) {
	left := !util.IsSpaceRune(after) && (!punct(after) || loose(before))
	right := !util.IsSpaceRune(before) && (!punct(before) || loose(after))
	if c != '_' {
		return left, right
	}
	return left && (!right || punct(before)), right && (!left || punct(after))
}

// punct is punctuation; an emoji is none, so that **👍**ok is bold.
func punct(r rune) bool {
	if r < 0x80 {
		return util.IsPunctRune(r)
	}
	return unicode.IsPunct(r)
}

// loose is what may stand outside a delimiter whose inner side is punctuation.
func loose(r rune) bool {
	return util.IsSpaceRune(r) || punct(r) || wide(r)
}

// wide is a letter or mark of a script that writes without spaces.
func wide(r rune) bool {
	return r >= 0x2e80 && (r <= 0x303f || r >= 0xff00 && r <= 0xffef ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo))
}

// spanner is goldmark's processor of one kind of delimiter.
type spanner byte

func (s spanner) IsDelimiter(b byte) bool { return b == byte(s) }

func (s spanner) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (s spanner) OnMatch(consumes int) ast.Node {
	if s == '~' {
		return extast.NewStrikethrough()
	}
	return ast.NewEmphasis(consumes)
}
