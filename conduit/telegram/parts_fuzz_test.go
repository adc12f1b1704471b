package telegram

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"orebot/conduit"
	"orebot/conduit/markup"
	"orebot/core/ledger"
	"orebot/core/loop"
	sim "orebot/internal/sim/telegram"
)

// postsOf renders an item as a courier asks for it: part after part, each told how many stand.
func postsOf(t testing.TB, r Renderer, it conduit.Item, how conduit.Shape) []conduit.Part {
	t.Helper()
	var out []conduit.Part
	for off := 0; off < len(it.Source); {
		how.Posted = len(out)
		p, err := r.Part(it, off, how)
		if err != nil || p.Next <= off {
			t.Fatalf("part at %d: next %d, %v", off, p.Next, err)
		}
		if p.Body != nil {
			out = append(out, p)
		}
		off = p.Next
	}
	return out
}

// deadText fails where a part pings somebody, or sends a command when it is touched.
func deadText(t testing.TB, p conduit.Part) {
	t.Helper()
	b := p.Body.(body)
	html := b.text
	if !b.html {
		html = escapeText(html)
	}
	text, entities, err := sim.Show(html)
	if err != nil {
		t.Fatalf("refused: %v in %q", err, html)
	}
	for _, e := range entities {
		if e.Type == "mention" || e.Type == "bot_command" || e.Type == "text_mention" {
			t.Fatalf("a %s at %d of %q", e.Type, e.Offset, text)
		}
	}
}

// keepsWhole fails where letters of the source's text are in no part.
func keepsWhole(t testing.TB, src string, parts []conduit.Part) {
	t.Helper()
	var shown strings.Builder
	for _, p := range parts {
		shown.WriteString(p.Text)
	}
	want, got := []rune(lettersOf(bodyText(markup.Parse(src)))), []rune(lettersOf(shown.String()))
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

// orphaned fails where one of several parts is so short that it could have stood in another one. Text that can be cut only where it
// hurts, that is full of entities, or that has long stretches of what nobody sees, has no choice.
func orphaned(t testing.TB, src string, parts []conduit.Part) {
	t.Helper()
	if len(parts) < 2 || strings.ContainsAny(src, "<&|>*_`[]#$.@/~\\=") || oddStretch(src) {
		return
	}
	for i, p := range parts {
		if n := utf8.RuneCountInString(p.Text); n < markup.Orphan {
			t.Fatalf("part %d of %d has %d characters", i+1, len(parts), n)
		}
	}
}

// oddStretch reports whether a text has many bytes in a row without a space, or many characters in a row that leave no mark.
func oddStretch(src string) bool {
	shows := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) }
	return slices.ContainsFunc(strings.Fields(src), func(w string) bool { return len(w) > 100 }) ||
		slices.ContainsFunc(strings.FieldsFunc(src, shows), func(s string) bool { return len(s) > 20 })
}

// checkPosts is what holds of every source, in whatever shape it is asked for: Telegram takes it, shows it as meant, whole, within the
// limits, and dead.
func checkPosts(t testing.TB, src string, bits uint8) {
	t.Helper()
	it := conduit.Item{
		Source: src, Kind: conduit.Kind(bits % 3), Severity: loop.SeverityWarn, Author: "slack:U1", Speaker: "Ann /stop @robert",
		Turn: ledger.TurnID{Seq: 1},
	}
	how := conduit.Shape{Repeat: bits&4 != 0, Plain: bits&8 != 0, Shrink: bits >> 4 & 1}
	parts := postsOf(t, NewRenderer(0), it, how)
	for _, p := range parts {
		checkShown(t, p)
		deadText(t, p)
	}
	keepsWhole(t, src, parts)
	orphaned(t, src, parts)
	filed := postsOf(t, NewRenderer(1), it, how)
	if len(filed) != min(len(parts), 2) {
		t.Fatalf("%d parts, %d with a file", len(parts), len(filed))
	}
	if len(filed) == 2 && filed[1].Body.(body).file == "" {
		t.Fatal("the rest is no file")
	}
}

// Reports 18 to 20 and 22: every answer of the corpora, of what models wrote and of CommonMark's examples is posted whole.
func TestEveryAnswerIsPostedWhole(t *testing.T) {
	for i, src := range everySource(t) {
		checkPosts(t, src, 0)
		checkPosts(t, src, uint8(i))
	}
}

// oddSources have characters that Telegram takes away, and with them what kept the text around them from being live.
var oddSources = []string{
	"ask @\u030arobert, @\u0333robert and @\u202erobert", "/\u033fstop", "`\u030a`", "\u030a\u0333\n\n---\n\n- \u033f", "# \u030a\n\n" + strings.Repeat("\u0333", 5000) + "x",
	"|\u030a|b|\n|-|-|\n|\u033f|`\u030a`|\n", strings.Repeat("x", 4000) + "\n\n" + strings.Repeat("\u0333", 300), "see READ\u030aME.md, http:/\u0333/ex.com", "@\x00robert @\xffrobert @\u2028robert",
}

// What Telegram takes away isn't there: it neither makes text live nor is it posted alone, which would be refused.
func TestWhatTelegramTakesAway(t *testing.T) {
	for _, src := range oddSources {
		for bits := range uint8(32) {
			checkPosts(t, src, bits)
		}
	}
	if parts := postsOf(t, Renderer{}, conduit.Item{Source: "\u030a"}, conduit.Shape{}); len(parts) != 0 {
		t.Errorf("%d messages that show nothing", len(parts))
	}
	if got := htmlOf(t, "a\u030a READ\u030aME.md"); got != "a <code>README.md</code>" {
		t.Errorf("%q", got)
	}
}

// Facts A4.1.
func FuzzPosts(f *testing.F) {
	for _, src := range []string{
		"# A\n\n**b** `c` [d](https://ex.com) README.md @robert /stop ./x.sh\n\n- e\n  1. f\n> g\n>> h\n", "```go\n\tx := \"<&>\"\n", "|A|B|\n|-|-|\n|1|@robert|\n",
		"$a_b$ and\n$$\nx<y\n$$\n<think>z</think>", "👨‍👩‍👧 e\u0301 粗体 \u202e\u200f\u200f", strings.Repeat("word ", 1200), strings.Repeat("- **a** https://ex.com/b\n", 90),
		"few words\n" + strings.Repeat("\u2000", 5000) + "\nfew more", strings.Repeat("\x01", 4100) + "\xff\xe2\x80", strings.Repeat("word ", 300) + strings.Repeat(" ", 5000) + "b",
	} {
		for _, bits := range []uint8{0, 5, 10, 31} {
			f.Add(src, bits)
		}
	}
	for _, src := range oddSources {
		f.Add(src, uint8(0))
		f.Add(src, uint8(9))
	}
	f.Fuzz(func(t *testing.T, src string, bits uint8) {
		if len(src) > 16000 {
			t.Skip()
		}
		checkPosts(t, src, bits)
	})
}
