package slack

import (
	"fmt"
	"path"
	"strings"

	"orebot/conduit"
)

// file is what a part shows as a file.
type file struct {
	name  string // carries the turn, so that the file is found again
	title string // what people see
	data  string
}

// wantsFile reports whether the part at an offset is a file: a notice that is one, or what is left after as many messages as an item
// may have.
func (r Renderer) wantsFile(it conduit.Item, offset int, how conduit.Shape) bool {
	switch {
	case how.Plain, how.Inline, offset >= len(it.Source):
		return false
	case it.File != "":
		return offset == 0
	}
	return it.Kind != conduit.Notice && r.maxParts > 0 && how.Posted >= r.maxParts
}

// filePart is all of an item from an offset on as a file, with the message that announces it. There is no body where nothing is left
// to show.
func (r Renderer) filePart(it conduit.Item, offset int, how conduit.Shape) conduit.Part {
	p := conduit.Part{Offset: offset, Next: len(it.Source)}
	f := file{name: fileName(it), title: it.File, data: it.Source}
	text := "📄 Here is `" + nameOf(it.File) + "`, "
	if it.File == "" {
		doc := r.parse(it.Source)
		if shown, _ := renderMrkdwn(doc, offset, 0); shown == "" {
			return p
		}
		f.title, f.data = f.name, doc.Rest(offset)
		text = "📄 My answer goes on in a file, "
	}
	text += sizeOf(len(f.data)) + "."
	if how.Repeat {
		text = repeatLabel + text
	}
	p.Text, p.Body = text, body{text: text, file: f}
	return p
}

// fileName is the name of the file that shows an item, or the rest of it. It carries the turn: no two items have the same.
func fileName(it conduit.Item) string {
	if it.File == "" {
		return "answer-" + it.Turn.String() + ".md"
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, it.File)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + it.Turn.String() + ext
}

// sizeOf prints a number of bytes as people do.
func sizeOf(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_500:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
