package markup

import (
	"bytes"
	"html"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlines adds the runs of a node's children.
func (b *builder) inlines(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.inline(c)
	}
}

func (b *builder) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.text(n.Segment)
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.newline(n.Segment.Stop)
		}
	case *ast.CodeSpan:
		b.codeSpan(n)
	case *ast.Emphasis:
		b.styled(n, emphasis(n.Level))
	case *extast.Strikethrough:
		b.styled(n, Strike)
	case *ast.Link:
		b.linked(n, n.Destination, "link")
	case *ast.Image:
		b.linked(n, n.Destination, "image")
	case *ast.AutoLink:
		b.autoLink(n)
	case *ast.RawHTML:
		b.tag(n)
	case *extast.TaskCheckBox:
		b.task(n.IsChecked)
	default:
		b.inlines(n)
	}
}

// emphasis is the style of one or two delimiters.
func emphasis(level int) Style {
	if level == 2 {
		return Bold
	}
	return Italic
}

// styled adds children with one more flag.
func (b *builder) styled(n ast.Node, s Style) {
	old := b.style
	b.style |= s
	b.inlines(n)
	b.style = old
}

// linked adds the label of a link or image; an image within a link leads where
// the link does, and an empty label gets a word.
func (b *builder) linked(n ast.Node, dest []byte, word string) {
	old := b.link
	if b.link == "" {
		b.link = destination(dest)
	}
	before := len(b.runs)
	end := b.end
	b.inlines(n)
	if before == len(b.runs) && end == b.end && n.Pos() >= 0 {
		at := b.src.source(n.Pos())
		b.add(Run{Text: word, Source: at, End: at + 1})
	}
	b.link = old
}

// destination decodes a link's destination as CommonMark says.
func destination(dest []byte) string {
	if bytes.IndexByte(dest, '\\') < 0 && bytes.IndexByte(dest, '&') < 0 {
		return string(dest)
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
}

// autoLink adds <https://…> or <a@b.c>.
func (b *builder) autoLink(n *ast.AutoLink) {
	label := n.Label(b.bytes)
	old := b.link
	if b.link = string(label); n.AutoLinkType == ast.AutoLinkEmail {
		b.link = "mailto:" + b.link
	}
	if at := n.Pos() + 1; at > 0 && bytes.HasPrefix(b.bytes[at:], label) {
		b.literal(at, at+len(label))
	}
	b.link = old
}

// tag adds an HTML tag as the text it is.
func (b *builder) tag(n *ast.RawHTML) {
	for i := range n.Segments.Len() {
		if s := n.Segments.At(i); isBreak(b.bytes[s.Start:s.Stop]) {
			b.replace(s.Start, s.Stop, "\n")
		} else {
			b.literal(s.Start, s.Stop)
		}
	}
}

// task sets the box of the innermost item.
func (b *builder) task(done bool) {
	if len(b.in) == 0 {
		return
	}
	c := &b.in[len(b.in)-1]
	if c.Task = OpenTask; done {
		c.Task = DoneTask
	}
}

// codeSpan adds inline code; line breaks in it are spaces.
func (b *builder) codeSpan(n ast.Node) {
	old := b.style
	b.style |= Code
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.codeText(t.Segment)
		}
	}
	b.style = old
}

func (b *builder) codeText(s text.Segment) {
	i := s.Start
	for j := i; j < s.Stop; j++ {
		switch {
		case b.bytes[j] == '\n':
			b.literal(i, j)
			b.replace(j, j+1, " ")
			i = j + 1
		case b.cell && b.bytes[j] == '\\' && j+1 < s.Stop && b.bytes[j+1] == '|':
			b.literal(i, j)
			i = j + 1
		}
	}
	b.literal(i, s.Stop)
}

// text adds inline text: backslashes escape punctuation, references stand for
// characters.
func (b *builder) text(s text.Segment) {
	i := s.Start
	for j := i; j < s.Stop; j++ {
		switch b.bytes[j] {
		case '\\':
			if j+1 < s.Stop && util.IsPunct(b.bytes[j+1]) {
				b.literal(i, j)
				i = j + 1
				j++
			}
		case '&':
			if n, char := reference(b.bytes[j:s.Stop]); n > 0 {
				b.literal(i, j)
				b.replace(j, j+n, char)
				i = j + n
				j = i - 1
			}
		}
	}
	b.literal(i, s.Stop)
}

// reference decodes the character reference that s starts with.
func reference(s []byte) (n int, char string) {
	end := bytes.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return 0, ""
	}
	name := string(s[:end+1])
	if char = html.UnescapeString(name); char == name || bytes.ContainsAny(s[1:end], "&; \n") || char[len(char)-1] == ';' {
		return 0, ""
	}
	if char == "\x00" || !utf8.ValidString(char) {
		char = "\uFFFD"
	}
	return end + 1, char
}

// newline adds the line break that follows i.
func (b *builder) newline(i int) {
	for i < len(b.bytes) && b.bytes[i] != '\n' {
		i++
	}
	if i < len(b.bytes) {
		b.literal(i, i+1)
	}
}

// literal adds the text from i to j as it is.
func (b *builder) literal(i, j int) {
	if i < j {
		b.src.pieces(i, j, b.add)
	}
}

// replace adds s for the text from i to j.
func (b *builder) replace(i, j int, s string) {
	b.add(Run{Text: s, Source: b.src.source(i), End: max(b.src.source(j), b.src.source(i)+1)})
}

// mark adds an empty run, so that what has no text has a place.
func (b *builder) mark(i int) {
	at := b.end
	if i >= 0 {
		at = b.src.source(i)
	}
	b.add(Run{Source: at, End: at + 1})
}

// add appends a run in the style that is being read. It keeps the order of the
// runs even where goldmark's positions don't.
func (b *builder) add(r Run) {
	r.Style, r.Link = b.style, b.link
	if r.Source < b.end {
		r.Source, r.End, r.Literal = b.end, max(r.End, b.end+1), false
	}
	if r.Source >= len(b.doc.Source) {
		b.squeeze(r)
		return
	}
	b.end = min(r.End, len(b.doc.Source))
	r.End = b.end
	if n := len(b.runs); n > 0 && b.join(&b.runs[n-1], r) {
		return
	}
	b.runs = append(b.runs, r)
}

// join lengthens a literal run by the one that follows it in the source.
func (b *builder) join(last *Run, r Run) bool {
	if !last.Literal || !r.Literal || last.End != r.Source || last.Style != r.Style || last.Link != r.Link {
		return false
	}
	last.End = r.End
	last.Text = b.doc.Source[last.Source:last.End]
	return true
}

// squeeze adds text that has no place left in the source to the last run.
func (b *builder) squeeze(r Run) {
	if n := len(b.runs); n > 0 {
		last := &b.runs[n-1]
		last.Text, last.Literal = last.Text+r.Text, last.Literal && r.Text == ""
	}
}
