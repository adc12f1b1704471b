package markup

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// runeLimit is a platform that takes so many runes of text, one more for each
// block, and counts nothing else.
func runeLimit(n int) Limit {
	return Limit{Max: n, Load: func(blocks []Block) float64 {
		return float64(utf8.RuneCountInString(TextOf(blocks))-len(blocks)) / float64(n)
	}}
}

func parts(t testing.TB, d *Document, l Limit) []Part {
	t.Helper()
	var out []Part
	for at := 0; at < len(d.Source); {
		p := d.Next(at, l)
		if p.Next <= at {
			t.Fatalf("no progress at %d: %d", at, p.Next)
		}
		if len(p.Blocks) > 0 {
			out = append(out, p)
		}
		at = p.Next
	}
	return out
}

// squash drops what can't be seen, which parts may lose at their ends.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if blank(string(r)) {
			return -1
		}
		return r
	}, s)
}

// checkDocument proves the law of runs: in order, disjoint, literal where they
// say so.
func checkDocument(t testing.TB, d *Document) {
	t.Helper()
	end := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if b.Grid == nil && len(b.Runs) == 0 {
			t.Fatalf("block %d has no runs", i)
		}
		if len(b.In) > 2*maxDepth {
			t.Fatalf("block %d is %d deep", i, len(b.In))
		}
		b.groups(func(runs []Run) {
			for _, r := range runs {
				if r.Source < end || r.End <= r.Source || r.End > len(d.Source) {
					t.Fatalf("run %q spans %d–%d after %d of %d", r.Text, r.Source, r.End, end, len(d.Source))
				}
				if r.Literal && d.Source[r.Source:r.End] != r.Text {
					t.Fatalf("run %q isn't %q", r.Text, d.Source[r.Source:r.End])
				}
				if !utf8.ValidString(r.Text) {
					t.Fatalf("run %q is not UTF-8", r.Text)
				}
				end = r.End
			}
		})
	}
}

// checkSplit proves that parts lose nothing, keep the limit and are the same
// from wherever one starts.
func checkSplit(t testing.TB, d *Document, n int) {
	t.Helper()
	l := runeLimit(n)
	ps := parts(t, d, l)
	var all strings.Builder
	for i, p := range ps {
		all.WriteString(TextOf(p.Blocks))
		again := d.Next(p.From, l)
		if again.Next != p.Next || TextOf(again.Blocks) != TextOf(p.Blocks) {
			t.Fatalf("part %d differs when started anew", i)
		}
		if size := utf8.RuneCountInString(TextOf(p.Blocks)); l.Load(p.Blocks) > 1 && size > n+64+len(p.Blocks)+headers(p.Blocks) {
			t.Fatalf("part %d has %d runes of %d", i, size, n)
		}
		for _, b := range p.Blocks {
			b.groups(func(runs []Run) {
				if len(runs) > 0 && !utf8.ValidString(cellText(runs)) {
					t.Fatalf("part %d cuts a rune", i)
				}
			})
		}
	}
	if got, want := squash(all.String()), squash(d.Text()); got != want {
		t.Fatalf("parts of %d say %q, the document says %q", n, got, want)
	}
}

func headers(blocks []Block) int {
	n := 0
	for _, b := range blocks {
		if b.Grid != nil {
			for _, c := range b.Grid.Header {
				n += utf8.RuneCountInString(cellText(c)) + 8
			}
		}
	}
	return n
}

func FuzzParse(f *testing.F) {
	for _, s := range samples() {
		f.Add(s, uint16(40))
	}
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		d := Parse(s)
		checkDocument(t, d)
		checkSplit(t, d, int(n)%5000+1)
	})
}

// FuzzOffset starts a part at any offset: it must end, and lose nothing that
// starts behind the offset.
func FuzzOffset(f *testing.F) {
	for _, s := range samples() {
		f.Add(s, uint16(7), uint16(30))
		f.Add(s, uint16(len(s)/2), uint16(399))
	}
	f.Fuzz(func(t *testing.T, s string, at, n uint16) {
		d := Parse(s)
		l := runeLimit(int(n)%400 + 1)
		var all strings.Builder
		for at := int(at) % (len(s) + 1); at < len(s); {
			p := d.Next(at, l)
			if p.Next <= at {
				t.Fatalf("no progress at %d", at)
			}
			all.WriteString(TextOf(p.Blocks))
			at = p.Next
		}
		if !strings.HasSuffix(squash(d.Text()), squash(all.String())) {
			t.Fatalf("from %d: %q is no end of %q", at, all.String(), d.Text())
		}
	})
}

func TestSamplesKeepTheLaw(t *testing.T) {
	for _, s := range samples() {
		d := Parse(s)
		checkDocument(t, d)
		for _, n := range []int{1, 7, 40, 300, 3500} {
			checkSplit(t, d, n)
		}
	}
}

func TestModelAnswersKeepTheLaw(t *testing.T) {
	for _, s := range modelAnswers(t) {
		d := Parse(s)
		checkDocument(t, d)
		checkSplit(t, d, 300)
		checkSplit(t, d, 3500)
		checkNoOrphan(t, d, 1500)
	}
}

// checkNoOrphan holds where nothing forbids a cut.
func checkNoOrphan(t *testing.T, d *Document, n int) {
	t.Helper()
	ps := parts(t, d, runeLimit(n))
	for i, p := range ps {
		if size := utf8.RuneCountInString(TextOf(p.Blocks)); len(ps) > 1 && size < Orphan {
			t.Errorf("part %d of %d has %d runes: %q", i+1, len(ps), size, TextOf(p.Blocks))
		}
	}
}

// Report 19: no part ends within a character.
func TestNoPartCutsAGrapheme(t *testing.T) {
	family := "👨‍👩‍👧"
	d := Parse(strings.Repeat(family, 900))
	for _, p := range parts(t, d, runeLimit(1003)) {
		text := strings.TrimSpace(TextOf(p.Blocks))
		if uniseg.GraphemeClusterCount(text)*len(family) != len(text) {
			t.Fatalf("a part is %q…", text[:20])
		}
	}
	accents := strings.Repeat("e\u0301", 700)
	for _, p := range parts(t, Parse(accents), runeLimit(501)) {
		if strings.HasPrefix(TextOf(p.Blocks), "\u0301") {
			t.Fatal("a part starts with an accent")
		}
	}
}

func TestAGraphemeWithoutEndIsCut(t *testing.T) {
	d := Parse("a" + strings.Repeat("\u0301", 5000))
	if n := len(parts(t, d, runeLimit(1000))); n < 5 || n > 7 {
		t.Fatalf("%d parts", n)
	}
	checkSplit(t, d, 1000)
}

func TestLabelsAndCodeStayWhole(t *testing.T) {
	label := strings.TrimSpace(strings.Repeat("label ", 20))
	for _, unit := range []string{"[" + label + "](https://ex.com/) ", "`" + label + "` "} {
		d := Parse(strings.Repeat(unit, 30))
		for _, p := range parts(t, d, runeLimit(500)) {
			for _, r := range p.Blocks[0].Runs {
				if (r.Link != "" || r.Style&Code != 0) && r.Text != label {
					t.Fatalf("cut: %q", r.Text)
				}
			}
		}
	}
	d := Parse("`" + strings.Repeat("x", 3000) + "`")
	checkSplit(t, d, 1000)
	if n := len(parts(t, d, runeLimit(1000))); n != 3 {
		t.Fatalf("code longer than the limit: %d parts", n)
	}
}

func TestPreference(t *testing.T) {
	para := strings.TrimSpace(strings.Repeat("Some words here. ", 30)) // 509
	cases := []struct {
		name, md  string
		max       int
		first     string // how the first part's text ends
		blockKind Kind
	}{
		{"block", para + "\n\n" + para + "\n\n" + para, 1200, "here.", Paragraph},
		{"item", "- " + para + "\n- " + para + "\n- " + para, 1200, "here.", Paragraph},
		{"line", strings.Repeat("a line of text\n", 100), 1000, "text", Paragraph},
		{"sentence", strings.Repeat("Of words a sentence. ", 100), 1000, "sentence.", Paragraph},
		{"word", strings.Repeat("word ", 400), 1002, "word", Paragraph},
		{"heading stays with its text", para + "\n\n# Heading\n\n" + para, 700, "here.", Paragraph},
		{"code by line", "```go\n" + strings.Repeat("line of code\n", 100) + "```", 1000, "code", CodeBlock},
	}
	for _, c := range cases {
		p := Parse(c.md).Next(0, runeLimit(c.max))
		last := p.Blocks[len(p.Blocks)-1]
		if text := strings.TrimSpace(TextOf(p.Blocks)); !strings.HasSuffix(text, c.first) || last.Kind != c.blockKind {
			t.Errorf("%s: ends in %q", c.name, text[max(0, len(text)-40):])
		}
	}
}

// Report 22: the language goes along with each part of code.
func TestCutCodeGoesOnAsCode(t *testing.T) {
	d := Parse("intro\n\n```go\n" + strings.Repeat("x := 1\n", 1000) + "```\n\nend")
	ps := parts(t, d, runeLimit(3000))
	if len(ps) != 3 {
		t.Fatalf("%d parts", len(ps))
	}
	for i, p := range ps[1:] {
		if b := p.Blocks[0]; b.Kind != CodeBlock || b.Lang != "go" || !b.Cont || !strings.HasPrefix(b.Runs[0].Text, "x") {
			t.Errorf("part %d starts with %+v", i+2, b.Kind)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, s := range []string{"", "  \n", "<think>x</think>\n", "```\n\n```", "\x00"[:0], "&#32;", "[a]: b\n\n[a][a]"[:0]} {
		d := Parse(s)
		if p := d.Next(0, runeLimit(10)); !d.Blank() || len(p.Blocks) != 0 || p.Next < len(s) {
			t.Errorf("%q isn't blank: %+v", s, p)
		}
	}
	for _, s := range []string{"a", "-", "---", "\x00"} {
		if Parse(s).Blank() {
			t.Errorf("%q is blank", s)
		}
	}
}

func modelAnswers(t testing.TB) []string {
	t.Helper()
	f, err := os.Open("../../../shared/cases/model-answers.jsonl")
	if err != nil {
		t.Skip("the shared model answers aren't here: ", err)
	}
	defer f.Close()
	var out []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var a struct{ Markdown string }
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a.Markdown)
	}
	return out
}
