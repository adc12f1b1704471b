package markup

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHostileInputs parses and cuts what makes parsers slow, deep or wrong. A
// quadratic step would show as a test that takes minutes.
func TestHostileInputs(t *testing.T) {
	for _, s := range []string{
		"> ", "- ", "*a", "*_", "_a ", "[", "]", "[a](b ", "[a](b \"", "[a]: b\n", "[a]: b \"\n", "![a](", "[a][b",
		"`", "a`", "` `` ", "<a ", "<!-- ", "<a@b", "$a", "$$\n", "\\[", "\\[\n", "| a | b |\n|-|-|\n", "&amp;", "&",
		"\x00", "\r", "\xff", "**a", "a**b", "~~a", "``` \n", "-\n", "1. a\n\n", "- a\n  - b\n", "e\u0301", "\u200d", "🇩", "<br>",
	} {
		md := strings.Repeat(s, 30000/len(s))
		d := Parse(md)
		checkDocument(t, d)
		ps := parts(t, d, runeLimit(3000))
		var all strings.Builder
		for _, p := range ps {
			all.WriteString(TextOf(p.Blocks))
		}
		if squash(all.String()) != squash(d.Text()) {
			t.Errorf("%q: parts lose text", s)
		}
	}
}

// TestParseKeepsLetters compares the model's answers with their source: what
// isn't in the document is an address, a language or a reference.
func TestParseKeepsLetters(t *testing.T) {
	for _, md := range modelAnswers(t) {
		text := []rune(squash(Parse(md).Text()))
		rest := []rune(squash(md))
		i := 0
		for _, r := range rest {
			if i < len(text) && text[i] == r {
				i++
			}
		}
		if i < len(text) {
			t.Errorf("text that isn't in the source: %q", string(text[i:min(i+40, len(text))]))
		}
		if lost := len(rest) - len(text); lost > len(rest)/3 {
			t.Errorf("%d of %d characters are gone: %q…", lost, len(rest), string(rest[:min(60, len(rest))]))
		}
	}
}

// TestSparseTables: a row of a few bytes has as many cells as its table's header. A large table that is full stays one.
func TestSparseTables(t *testing.T) {
	table := func(columns, rows int, row string) string {
		return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat(row+"\n", rows)
	}
	for name, c := range map[string]struct {
		md   string
		want Kind
	}{
		"few cells":      {table(40, 10000, "|b|c|"), Paragraph},
		"no names":       {strings.Repeat("|", 1001) + "\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("b\n", 40000), Paragraph},
		"empty cells":    {table(30, 2000, strings.Repeat("| ", 30)+"|"), Paragraph},
		"full":           {table(10, 5000, strings.Repeat("|b", 10)+"|"), Table},
		"some are empty": {table(10, 400, "|b|c|d|"), Table},
	} {
		d := Parse(c.md)
		checkDocument(t, d)
		if len(d.Blocks) == 0 || d.Blocks[0].Kind != c.want {
			t.Errorf("%s: the first block is %v", name, d.Blocks[0].Kind)
		}
	}
}

// TestBounds: beyond them markup is text. Without them the inputs of TestHostileInputs cost time that grows with their square.
func TestBounds(t *testing.T) {
	definitions := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("[x" + strconv.Itoa(i) + "]: /u\n")
		}
		return b.String() + "\n" + "[x0]\n"
	}
	linked := func(d *Document) int { return count(d, func(r Run) bool { return r.Link != "" }) }
	italic := func(d *Document) int { return count(d, func(r Run) bool { return r.Style&Italic != 0 }) }
	coded := func(d *Document) int {
		return len(slices.DeleteFunc(slices.Clone(d.Blocks), func(b Block) bool { return b.Kind != CodeBlock }))
	}
	tabled := func(d *Document) int {
		return len(slices.DeleteFunc(slices.Clone(d.Blocks), func(b Block) bool { return b.Kind != Table }))
	}
	for name, c := range map[string]struct {
		md   string
		of   func(*Document) int
		want int
	}{
		"links":            {strings.Repeat("[a](/x) ", maxBrackets+100), linked, maxBrackets},
		"links, each line": {strings.Repeat("[a](/x)\n\n", maxBrackets+100), linked, maxBrackets + 100},
		"emphasis":         {strings.Repeat("*a* ", maxDelimiters), italic, maxDelimiters / 2},
		"definitions":      {definitions(maxDefinition), linked, 1},
		"more definitions": {definitions(maxDefinition + 1), linked, 0},
		"formula":          {"$$\n" + strings.Repeat("x\n", 500) + "$$\n", coded, 1},
		"long formula":     {"$$\n" + strings.Repeat("x\n", maxMath) + "$$\n", coded, 0},
		"header":           {"|" + strings.Repeat("x", maxHeader) + "|\n|-|\n|a|\n", tabled, 1},
		"long header":      {"|" + strings.Repeat("x", maxHeader+1) + "|\n|-|\n|a|\n", tabled, 0},
		"names":            {strings.Repeat("|x", maxNames) + "|\n" + strings.Repeat("|-", maxNames) + "|\n|a|\n", tabled, 1},
		"looks":            {"|" + strings.Repeat("***x*** y ", maxNames/3) + "|\n|-|\n|a|\n", tabled, 1},
		"many looks":       {"|" + strings.Repeat("***x*** y ", maxNames/3+1) + "|\n|-|\n|a|\n", tabled, 0},
		"link":             {"|[x](/" + strings.Repeat("x", maxLinked-1) + ")|\n|-|\n|a|\n", tabled, 1},
		"long link":        {"|[x](/" + strings.Repeat("x", maxLinked) + ")|\n|-|\n|a|\n", tabled, 0},
		"many names":       {strings.Repeat("|x", maxNames+1) + "|\n" + strings.Repeat("|-", maxNames+1) + "|\n|a|\n", tabled, 0},
	} {
		d := Parse(c.md)
		checkDocument(t, d)
		if n := c.of(d); n != c.want {
			t.Errorf("%s: %d, want %d", name, n, c.want)
		}
	}
}

// count returns how many runs of a document are as f says.
func count(d *Document, f func(Run) bool) (n int) {
	for _, b := range d.Blocks {
		b.groups(func(runs []Run) {
			for _, r := range runs {
				if f(r) {
					n++
				}
			}
		})
	}
	return n
}
