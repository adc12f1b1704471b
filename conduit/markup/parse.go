package markup

import (
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Parse reads a model's answer. Whatever it is given, it returns a document
// and never panics: should goldmark fail on an input, the source is shown as it
// is, in one paragraph.
func Parse(source string) (d *Document) {
	n := normalise(source)
	defer func() {
		if recover() != nil {
			d = verbatim(n)
		}
	}()
	b := newBuilder(n)
	pc := parser.NewContext()
	b.children(commonmark.Parse(text.NewReader(b.bytes), parser.WithContext(pc)))
	b.doc.finish()
	return b.doc
}

// verbatim is the document of a source that nobody could parse.
func verbatim(n *normal) *Document {
	b := newBuilder(n)
	b.literal(0, len(n.text))
	b.block(Block{Kind: Paragraph})
	b.doc.finish()
	return b.doc
}
