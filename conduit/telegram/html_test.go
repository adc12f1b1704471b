package telegram

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"orebot/conduit/markup"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// pagesOf renders a whole answer and proves of every part what Telegram asks.
func pagesOf(t testing.TB, md string, room int) []page {
	t.Helper()
	doc := markup.Parse(md)
	var out []page
	for at := 0; at < len(md); {
		p, next := renderHTML(doc, at, room)
		if next <= at {
			t.Fatalf("no progress at %d", at)
		}
		if p.HTML != "" {
			checkPage(t, p, room)
			out = append(out, p)
		} else if next < len(md) {
			t.Fatalf("an empty part at %d of %d", at, len(md))
		}
		at = next
	}
	checkNothingLost(t, doc, out)
	return out
}

func checkPage(t testing.TB, p page, room int) {
	t.Helper()
	plain, entities, err := parseStrict(p.HTML)
	if err != nil {
		t.Fatalf("%v in %s", err, p.HTML)
	}
	if plain != p.Plain {
		t.Fatalf("shows %q, wanted %q", plain, p.Plain)
	}
	units := len(utf16.Encode([]rune(plain)))
	if units != p.units || entities != p.entities {
		t.Fatalf("counted %d units and %d entities, there are %d and %d", p.units, p.entities, units, entities)
	}
	if units+room > 4096 || entities > 90 || len(p.HTML) > 32768 { // Telegram's limits, and not what the renderer takes for them
		t.Fatalf("%d units, %d entities, %d bytes", units, entities, len(p.HTML))
	}
	if strings.Trim(plain, " \n") != plain && !strings.HasPrefix(p.HTML, "<") || strings.TrimSpace(plain) == "" {
		t.Fatalf("Telegram would trim %q", plain)
	}
}

// checkNothingLost compares letters and digits: those of the document are
// there, in order. The names of a table's columns are not looked for.
func checkNothingLost(t testing.TB, doc *markup.Document, ps []page) {
	t.Helper()
	var shown strings.Builder
	for _, p := range ps {
		shown.WriteString(p.Plain)
	}
	want, got := []rune(lettersOf(bodyText(doc))), []rune(lettersOf(shown.String()))
	i := 0
	for _, r := range got {
		if i < len(want) && want[i] == r {
			i++
		}
	}
	if i < len(want) {
		t.Fatalf("lost from %q in %q", string(want[i:]), string(got))
	}
}

func bodyText(doc *markup.Document) string {
	blocks := append([]markup.Block(nil), doc.Blocks...)
	for i, b := range blocks {
		if b.Grid != nil && len(b.Grid.Rows) > 0 {
			g := *b.Grid
			g.Header = g.Header[:min(1, len(g.Header))]
			blocks[i].Grid = &g
		}
	}
	return markup.TextOf(blocks)
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func htmlOf(t testing.TB, md string) string {
	t.Helper()
	var all []string
	for _, p := range pagesOf(t, md, 100) {
		all = append(all, p.HTML)
	}
	return strings.Join(all, "\n=====\n")
}

// Facts A5.7, D.7, D.14, D.16, D.19.
func TestSharedCases(t *testing.T) {
	raw, err := os.ReadFile("../../../shared/cases/telegram-markdown.json")
	if err != nil {
		t.Skip("the shared cases aren't here: ", err)
	}
	var cases []struct{ Name, MD, HTML string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if strings.HasPrefix(c.HTML, "(") {
			c.HTML = "" // nothing is sent
		}
		if got := htmlOf(t, c.MD); got != c.HTML {
			t.Errorf("%s:\n got %q\nwant %q", c.Name, got, c.HTML)
		}
	}
}

// Facts A4.6, A4.8, A5.2, A5.6, A5.7, B.13, D.11, D.12, D.15, D.17, D.18, D.19.
func TestHTML(t *testing.T) {
	cases := []struct{ name, md, html string }{
		{"local address", "[api](http://localhost:11434/api)", "api (http://localhost:11434/api)"},
		{"local address alone", "<http://localhost:11434>", "http://localhost:11434"},
		{"file as link", "[readme](README.md)", "readme (<code>README.md</code>)"},
		{"mail", "<a@b.org> [m](mailto:a@b.org)", "a@b.org m (a@b.org)"},
		{"person as link", "[x](tg://user?id=7)", "x (tg://user?id=7)"},
		{"script as link", "[x](javascript:alert%281%29)", "x (javascript:alert%281%29)"},
		{"host without letters", "[a](http://1.2.3.4/) [b](http://[::1]/) [c](http://a.5/)", `<a href="http://1.2.3.4/">a</a> <a href="http://[::1]/">b</a> c (http://a.5/)`},
		{"quote in address", `[x](<https://ex.com/"y>)`, `x (https://ex.com/"y)`},
		{"code as link", "[`f`](https://ex.com)", `<a href="https://ex.com">f</a>`},
		{"bold around code", "**a `b` c**", "<b>a </b><code>b</code><b> c</b>"},
		{"mention", "ask @somebody or (@other), not a@b.org", "ask @\u2060somebody or (@\u2060other), not a@b.org"},
		{"mention across styles", "@**somebody**", "@<b>\u2060somebody</b>"},
		{"command", "send /stop, see /etc/fstab and and/or https://ex.com/a", "send /\u2060stop, see /etc/fstab and and/or https://ex.com/a"},
		{"mention in code", "`@somebody /stop`", "<code>@somebody /stop</code>"},
		{"space behind a mention", "@somebody <b>", "@\u2060somebody &lt;b&gt;"},
		{"file name", "see README.md, **main.rs** and ./run.sh.", "see <code>README.md</code>, <code>main.rs</code> and <code>./run.sh</code>."},
		{"file name in its place", "src/main.rs:3 and https://ex.com/README.md and a.md.gz and x@foo.py", "src/main.rs:3 and https://ex.com/README.md and a.md.gz and x@foo.py"},
		{"file name in a link", "[README.md](https://ex.com)", `<a href="https://ex.com">README.md</a>`},
		{"formula", "$a_b * c_d$ and \\(x\\)", "<code>a_b * c_d</code> and <code>x</code>"},
		{"display formula", "so\n$$\na = *b*\n$$\nthen", "so\n\n<pre>a = *b*</pre>\n\nthen"},
		{"money", "$5 and $10", "$5 and $10"},
		{"Chinese", "**粗体：**文", "<b>粗体：</b>文"},
		{"ranges", "3~5 or 6~8", "3~5 or 6~8"},
		{"code in list", "1. a\n   ```sh\n   ls\n   ```\n2. b", "1. a\n<pre><code class=\"language-sh\">ls</code></pre>\n2. b"},
		{"code as item", "- ```\n  x\n  ```", "•\n<pre>x</pre>"},
		{"quote as item", "- > q\n- b", "•\n<blockquote>q</blockquote>\n• b"},
		{"list in quote", "> - a\n>   - b", "<blockquote>• a\n  ◦ b</blockquote>"},
		{"empty quote", "- a\n>", "• a"},
		{"two quotes", "> a\n\nb\n\n> c", "<blockquote>a</blockquote>\n\nb\n\n<blockquote>c</blockquote>"},
		{"lines in item", "- a\n  b\n\n  c", "• a\n  b\n\n  c"},
		{"loose list", "1. a\n\n2. b", "1. a\n\n2. b"},
		{"empty item", "-\n- a", "•\n• a"},
		{"references", "&lt;b&gt; &amp;amp; &copy;", "&lt;b&gt; &amp;amp; ©"},
		{"controls", "a\tb\x01c\u202ed\u2028e", "a b cd e"},
		{"image without text", "![](https://ex.com/i.png)", `<a href="https://ex.com/i.png">image</a>`},
		{"data image", "![pic](data:image/png;base64," + strings.Repeat("A", 9000) + ")", "pic (data:image/png;base64," + strings.Repeat("A", 58) + "…)"},
		{"definition", "[Note]: this", "[Note]: this"},
		{"blank code", "a\n\n```\n\n```", "a"},
		{"table with link", "|A|B|\n|-|-|\n|[x](https://ex.com)|1|", "<i>A</i>\n<a href=\"https://ex.com\"><b>x</b></a>\n• B: 1"},
	}
	for _, c := range cases {
		if got := htmlOf(t, c.md); got != c.html {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.html)
		}
	}
}

// A part is as long as Telegram takes, and no longer.
// Facts A4.1, A4.3, A4.4, D.4, D.6; reports 18, 19.
func TestPartCounts(t *testing.T) {
	cases := []struct {
		name, md  string
		min, most int
	}{
		{"4096 letters", strings.Repeat("a", 4096), 1, 1},
		{"4097 letters", strings.Repeat("a", 4097), 2, 2},
		{"2048 faces", strings.Repeat("😀", 2048), 1, 1},
		{"2049 faces", strings.Repeat("😀", 2049), 2, 2},
		{"family at the limit", strings.Repeat("a", 4094) + "👨‍👩‍👧", 2, 2},
		{"fence of 9000", "```go\n" + strings.Repeat("123456789\n", 900) + "```", 3, 3},
		{"one line of 20000 in a fence", "```go\n" + strings.Repeat("x", 20000) + "\n```", 5, 5},
		{"150 bold words", strings.Repeat("**x** ", 150), 2, 2},
		{"4096 ampersands", strings.Repeat("&", 4096), 1, 1},
		{"8000 Chinese in bold", "**" + strings.Repeat("中", 8000) + "**", 2, 2},
		{"trailing blank lines", strings.Repeat("a", 4000) + strings.Repeat("\n", 500), 1, 1},
		{"a table", "| A | B |\n|---|---|\n" + strings.Repeat("| cell | 12345 |\n", 500), 2, 3},
		{"a wide table", "| A | B |\n|---|---|\n" + strings.Repeat("| "+strings.Repeat("cell ", 20)+" | 12345 |\n", 100), 3, 4},
		{"a label that doesn't fit", "[" + strings.Repeat("label ", 2000) + "](https://ex.com)", 3, 4},
		{"80 links of many ampersands", strings.Repeat("[&](https://ex.com/?"+strings.Repeat("&", 85)+") ", 80) + strings.Repeat("&", 3000), 2, 2},
		{"200 links of 300 bytes", strings.Repeat("[x](https://ex.com/"+strings.Repeat("y", 280)+") ", 200), 7, 8},
	}
	for _, c := range cases {
		if n := len(pagesOf(t, c.md, 0)); n < c.min || n > c.most {
			t.Errorf("%s: %d parts", c.name, n)
		}
	}
}

// Code that is cut goes on as code of its language.
// Facts A5.3, D.4; report 22.
func TestEachPartOfCodeHasItsFence(t *testing.T) {
	for _, p := range pagesOf(t, "```go\n"+strings.Repeat("\tx := \"1\"\n", 900)+"```", 60) {
		if !strings.HasPrefix(p.HTML, `<pre><code class="language-go">    x`) || !strings.HasSuffix(p.HTML, "</code></pre>") {
			t.Errorf("%q", p.HTML[:60])
		}
	}
}

func TestRoomIsLeft(t *testing.T) {
	for _, p := range pagesOf(t, strings.Repeat("word ", 3000), 500) {
		if p.units > maxUnits-500 {
			t.Errorf("%d units", p.units)
		}
	}
}

// TestGolden renders the corpora. Run with -update after a change that is meant.
// Facts D.5, D.7, D.12, D.13, D.14, D.16.
func TestGolden(t *testing.T) {
	for corpus, want := range map[string]struct {
		dir   string
		least int
	}{"corpus": {"html", 25}, "answers": {"answers", 60}} {
		files, _ := filepath.Glob("../markup/testdata/" + corpus + "/*.md")
		if len(files) < want.least {
			t.Fatalf("%d files in %s", len(files), corpus)
		}
		for _, f := range files {
			goldenHTML(t, f, filepath.Join("testdata", want.dir, strings.TrimSuffix(filepath.Base(f), ".md")+".html"))
		}
	}
}

func goldenHTML(t *testing.T, source, file string) {
	t.Helper()
	md, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	got := htmlOf(t, string(md)) + "\n"
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s (%v):\n%s", file, err, got)
	}
}

func htmlAnswers(t testing.TB) []string {
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

// Report 20: nothing that models write is refused.
func TestModelAnswers(t *testing.T) {
	for _, md := range htmlAnswers(t) {
		for _, room := range []int{100, 3000} {
			ps := pagesOf(t, md, room)
			for i, p := range ps {
				if n := len([]rune(p.Plain)); len(ps) > 1 && n < markup.Orphan {
					t.Errorf("part %d of %d has %d characters: %q", i+1, len(ps), n, p.Plain)
				}
			}
		}
	}
}

// Facts A4.1, A4.3, A5.2, C.2, D.3.
func FuzzHTML(f *testing.F) {
	files, _ := filepath.Glob("../markup/testdata/corpus/*.md")
	for _, name := range files {
		md, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(md), uint16(0))
		f.Add(string(md), uint16(2499))
	}
	f.Fuzz(func(t *testing.T, md string, room uint16) {
		pagesOf(t, md, int(room)%2500)
	})
}

func BenchmarkHTML(b *testing.B) {
	md := strings.Repeat("## Head\n\nSome **bold** words, a [link](https://ex.com) and `code` in a line of text.\n\n- one\n- two\n\n```go\nfunc f() {\n\treturn\n}\n```\n\n", 40)[:4096]
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		doc := markup.Parse(md)
		for at := 0; at < len(md); {
			_, at = renderHTML(doc, at, 100)
		}
	}
}
