package markup_test

import (
	"strings"
	"testing"

	"orebot/conduit/markup"
)

func TestRest(t *testing.T) {
	cases := []struct{ name, md, from, want string }{
		{"all", "a\n\nb", "a", "a\n\nb"},
		{"a paragraph", "a\n\nb c", "b", "b c"},
		{"within a paragraph", "one two **three**", "two", "two **three**"},
		{"an item with its marker", "- a\n- b\n", "b", "- b\n"},
		{"an indented item", "- a\n  - b\n    - c\n  - d\n- e\n", "b", "- b\n  - c\n- d\n- e\n"},
		{"a heading", "a\n\n## B\n\nc", "B", "## B\n\nc"},
		{"a fence", "a\n\n```go\nx\ny\n```\nb", "y", "```go\ny\n```\nb"},
		{"a line's indentation", "```\nx\n    y\n```\n", "    y", "```\n    y\n```\n"},
		{"within a line of a fence", "```\nx yyy\n```\n", "yyy", "```\nyyy\n```\n"},
		{"a fence from its start", "a\n\n~~~py\nx\n~~~\n", "x", "~~~py\nx\n~~~\n"},
		{"indented code", "a\n\n    x\n    y\n", "y", "    y\n"},
		{"a fence in a list", "1. a\n   ```sh\n   x\n   y\n   ```\n2. b", "y", "```sh\ny\n```\n2. b"},
		{"a row", "|A|B|\n|-|-|\n|1|2|\n|3|4|\n", "3", "|A|B|\n|-|-|\n|3|4|\n"},
		{"a quote", "> a\n>\n> b\n", "b", "> b\n"},
		{"a Windows source", "a\r\n\r\nb\r\n", "b", "b\r\n"},
		{"the end", "a", "", "a"},
		{"within a rune", "a\u2000\x1b", "\x80\x1b", "\u2000\x1b"},
	}
	for _, c := range cases {
		if got := markup.Parse(c.md).Rest(strings.Index(c.md, c.from)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := markup.Parse("abc").Rest(3); got != "" {
		t.Errorf("behind the end there is %q", got)
	}
}

// FuzzRest: whatever is cut where, the rest is there, in order.
func FuzzRest(f *testing.F) {
	f.Add("- a\n  - b\n    - c\n\n```go\nx\n\ty\n```\n|a|b|\n|-|-|\n|1|2|\n", uint16(9))
	f.Fuzz(func(t *testing.T, md string, at uint16) {
		off := int(at) % (len(md) + 1)
		rest := markup.Parse(md).Rest(off)
		want := strings.Join(strings.Fields(md[nextRune(md, off):]), "")
		if got := strings.Join(strings.Fields(rest), ""); !strings.HasSuffix(got, want) {
			t.Fatalf("%q from %d: %q", md, off, rest)
		}
		if len(rest) > 2*len(md)+1 {
			t.Fatalf("%q from %d grew to %q", md, off, rest)
		}
	})
}

// nextRune returns the first place at or behind an offset that isn't inside a rune.
func nextRune(s string, off int) int {
	for i := range s {
		if i >= off {
			return i
		}
	}
	return len(s)
}
