package slack

import (
	"bufio"
	"encoding/json"
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"orebot/conduit/markup"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// mrkdwnTexts renders a whole answer and proves of every part what Slack needs.
func mrkdwnTexts(t testing.TB, md string, room int) []string {
	t.Helper()
	doc := markup.Parse(md)
	var out []string
	for at := 0; at < len(md); {
		s, next := renderMrkdwn(doc, at, room)
		if next <= at {
			t.Fatalf("no progress at %d", at)
		}
		if s != "" {
			checkMrkdwn(t, s, room)
			out = append(out, s)
		} else if next < len(md) {
			t.Fatalf("an empty part at %d of %d", at, len(md))
		}
		at = next
	}
	checkLettersKept(t, doc, out)
	return out
}

var (
	liveLink = regexp.MustCompile(`<((?:(?i:https?)://|(?i:mailto):)[^<>|\s]+)\|([^<>|\n]+)>`)
	bareAmp  = regexp.MustCompile(`&(?:amp|lt|gt);`)
)

// checkMrkdwn proves that a text has nothing live but links of this package's
// making, that its fences are balanced, and that it is within the limit.
func checkMrkdwn(t testing.TB, s string, room int) {
	t.Helper()
	if n := utf8.RuneCountInString(s); n+room > maxText {
		t.Fatalf("%d characters", n)
	}
	if strings.TrimSpace(s) == "" || strings.Trim(s, " \n") != s || !utf8.ValidString(s) {
		t.Fatalf("%q", s)
	}
	if strings.Count(s, "```")%2 != 0 {
		t.Fatalf("unbalanced fences in %q", s)
	}
	rest := liveLink.ReplaceAllString(s, "")
	for _, line := range strings.Split(rest, "\n") {
		line = strings.TrimPrefix(line, ">") // a quote
		if strings.ContainsAny(line, "<>") {
			t.Fatalf("live: %q in %q", line, s)
		}
	}
	if strings.Contains(bareAmp.ReplaceAllString(s, ""), "&") {
		t.Fatalf("bare & in %q", s)
	}
}

// checkLettersKept compares letters and digits: those of the document are
// there, in order. The names of a table's columns are not looked for.
func checkLettersKept(t testing.TB, doc *markup.Document, parts []string) {
	t.Helper()
	blocks := append([]markup.Block(nil), doc.Blocks...)
	for i, b := range blocks {
		if b.Grid != nil && len(b.Grid.Rows) > 0 {
			g := *b.Grid
			g.Header = g.Header[:min(1, len(g.Header))]
			blocks[i].Grid = &g
		}
	}
	want := []rune(lettersOf(markup.TextOf(blocks)))
	got := lettersOf(html.UnescapeString(strings.Join(parts, "\n")))
	i := 0
	for _, r := range got {
		if i < len(want) && want[i] == r {
			i++
		}
	}
	if i < len(want) {
		t.Fatalf("lost from %q in %q", string(want[i:]), got)
	}
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func mrkdwnOf(t testing.TB, md string) string {
	t.Helper()
	return strings.Join(mrkdwnTexts(t, md, 100), "\n=====\n")
}

// TestMrkdwn: facts A5.7, A5.8, B.18.
func TestMrkdwn(t *testing.T) {
	const z = "\u200b"
	cases := []struct{ name, md, text string }{
		{"heading", "# Title *x*\n\ntext", "*Title* *_x_*\n\ntext"},
		{"heading with code", "## Use `go test`", "*Use* `go test`"},
		{"styles", "**b** *i* ***bi*** ~~s~~ `c`", "*b* _i_ *_bi_* ~s~ `c`"},
		{"within words", "a**b**c *d*e", "a" + z + "*b*" + z + "c _d_" + z + "e"},
		{"beside punctuation", "(**b**), \"*i*\": x", "(*b*), \"_i_\": x"},
		{"Chinese", "**粗体：**正文", "*粗体：*" + z + "正文"},
		{"style after style", "**b***i*", "*b*" + z + "_i_"},
		{"spaces inside", "**b** **c **d", "*b* " + z + "*" + z + "*" + z + "c " + z + "*" + z + "*" + z + "d"},
		{"bold over lines", "**a\nb**", "*a*\n*b*"},
		{"literal stars", "\\*a\\* and snake_case_name", z + "*" + z + "a" + z + "*" + z + " and snake_case_name"},
		{"one star", "2 * 3, \\*note", "2 * 3, " + z + "*" + z + "note"},
		{"lone star", "\\*note", "*note"},
		{"ticks", "\\`a\\` ``b`c``", "ˋaˋ `bˋc`"},
		{"mentions", "<!channel> <@U1> <#C1|x> & <script>", "&lt;!channel&gt; &lt;@U1&gt; &lt;#C1|x&gt; &amp; &lt;script&gt;"},
		{"mentions in code", "`<@U1>`\n\n```\n<!here> & x\n```", "`&lt;@U1&gt;`\n\n```\n&lt;!here&gt; &amp; x\n```"},
		{"no quote", "\\> a", z + "&gt; a"},
		{"link", "[a|b <c>](https://ex.com/?a=1&b=<2>|3)", "<https://ex.com/?a=1&amp;b=%3C2%3E%7C3|a¦b &lt;c&gt;>"},
		{"link with specials", "[a|b &](<https://ex.com/?a=1&b=%3C|3>)", "<https://ex.com/?a=1&amp;b=%3C%7C3|a¦b &amp;>"},
		{"bold link", "**[a](https://ex.com)** [*b* c](https://ex.org)", "*<https://ex.com|a>* <https://ex.org|b c>"},
		{"ticks in an address", "[a`](<https://ex.com/```>) <https://ex.com/```>", "<https://ex.com/%60%60%60|aˋ> <https://ex.com/%60%60%60|https://ex.com/ˋˋˋ>"},
		{"mention as link", "[<!channel>](https://ex.com) [x](!channel) [y](<@U1>)", "<https://ex.com|&lt;!channel&gt;> x (!channel) y (@U1)"},
		{"script as link", "[x](javascript:alert%281%29)", "x (javascript:alert%281%29)"},
		{"autolink and mail", "<https://ex.com> <a@b.org>", "<https://ex.com|https://ex.com> <mailto:a@b.org|a@b.org>"},
		{"image", "![alt](https://ex.com/i.png)", "<https://ex.com/i.png|alt>"},
		{"lists", "- a\n  - b\n    1. c\n- [x] d\n- [ ] e", "• a\n    ◦ b\n        1. c\n☑ d\n☐ e"},
		{"lines in item", "- a\n  b", "• a\n    b"},
		{"quotes", "> q\n> p\n>> r\n\ns", "> q\n> p\n>\n> &gt; r\n\ns"},
		{"code", "```go title=\"x\"\nif a < b {\n\treturn\n}\n```", "```\nif a &lt; b {\n    return\n}\n```"},
		{"fence in code", "````\n```go\n````", "```\n``" + z + "`go\n```"},
		{"many ticks in code", "```````\n``````go\n```````", "```\n``" + z + "``" + z + "`" + z + "`go\n```"},
		{"code in list", "1. a\n   ```\n   x\n   ```\n2. b", "1. a\n```\nx\n```\n2. b"},
		{"table", "| A | B |\n|---|--:|\n| x | 1 |\n| long | 22 |", "```\nA    |  B\n-----+---\nx    |  1\nlong | 22\n```"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"break", "line<br>two", "line\ntwo"},
		{"think", "<think>secret</think>\n\nanswer", "answer"},
		{"nothing", "  \n", ""},
	}
	for _, c := range cases {
		if got := mrkdwnOf(t, c.md); got != c.text {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.text)
		}
	}
}

// TestO9 is the outbound case O9 of Slack's facts: everything live and a long
// fence in one answer of more than 40,000 characters. Facts A5.1, A5.2, A5.10, O.9.
func TestO9(t *testing.T) {
	md := "<!channel> <@U1> & <script> **b**\n\n```go\n" + strings.Repeat("a < b && c > d // <!here>\n", 360) +
		"```\n\n" + strings.Repeat("Some more words of an answer, <@U2>. ", 900)
	ps := mrkdwnTexts(t, md, 60)
	if len(ps) < 12 || len(ps) > 30 {
		t.Errorf("%d parts", len(ps))
	}
	if !strings.HasSuffix(ps[1], "\n```") || !strings.HasPrefix(ps[1], "```\na &lt; b") {
		t.Errorf("the second part isn't a whole fence: %q", ps[1][:40])
	}
}

func TestPartCounts(t *testing.T) {
	cases := []struct {
		name, md string
		n        int
	}{
		{"3500 letters", strings.Repeat("a", 3500), 1},
		{"3501 letters", strings.Repeat("a", 3501), 2},
		{"3500 Chinese", strings.Repeat("中", 3500), 1},
		{"3500 ampersands", strings.Repeat("&", 3500), 5},
		{"a line of 20000 in a fence", "```\n" + strings.Repeat("x", 20000) + "\n```", 6},
		{"a label that doesn't fit", "[" + strings.Repeat("label ", 1000) + "](https://ex.com)", 2},
	}
	for _, c := range cases {
		if n := len(mrkdwnTexts(t, c.md, 0)); n != c.n {
			t.Errorf("%s: %d parts, want %d", c.name, n, c.n)
		}
	}
}

// TestGolden renders the corpus. Run with -update after a change that is meant. Fact A5.7.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("../markup/testdata/corpus/*.md")
	if len(files) < 25 {
		t.Fatalf("%d files in the corpus", len(files))
	}
	for _, f := range files {
		md, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got := mrkdwnOf(t, string(md)) + "\n"
		golden := filepath.Join("testdata", "mrkdwn", strings.TrimSuffix(filepath.Base(f), ".md")+".txt")
		if *updateGolden {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != got {
			t.Errorf("%s (%v):\n%s", golden, err, got)
		}
	}
}

func TestModelAnswers(t *testing.T) {
	f, err := os.Open("../../../shared/cases/model-answers.jsonl")
	if err != nil {
		t.Skip("the shared model answers aren't here: ", err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var a struct{ Markdown string }
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{100, 2500} {
			ps := mrkdwnTexts(t, a.Markdown, room)
			for i, p := range ps {
				if n := utf8.RuneCountInString(p); len(ps) > 1 && n < markup.Orphan {
					t.Errorf("part %d of %d has %d characters: %q", i+1, len(ps), n, p)
				}
			}
		}
	}
}

// FuzzMrkdwn: facts A5.10, A5.12.
func FuzzMrkdwn(f *testing.F) {
	files, _ := filepath.Glob("../markup/testdata/corpus/*.md")
	for _, name := range files {
		md, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(md[:runeEnd(string(md), min(len(md), fuzzLength))]), uint16(3000))
	}
	f.Fuzz(func(t *testing.T, md string, room uint16) {
		if len(md) > fuzzLength {
			return
		}
		mrkdwnTexts(t, md, int(room)%3300)
	})
}

func BenchmarkMrkdwn(b *testing.B) {
	md := strings.Repeat("## Head\n\nSome **bold** words, a [link](https://ex.com) and `code` in a line of text.\n\n- one\n- two\n\n```go\nfunc f() {\n\treturn\n}\n```\n\n", 40)[:4096]
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		doc := markup.Parse(md)
		for at := 0; at < len(md); {
			_, at = renderMrkdwn(doc, at, 100)
		}
	}
}
