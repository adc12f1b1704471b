package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/loop"
	sim "orebot/internal/sim/telegram"
)

// partsOf renders an item part by part.
func partsOf(t testing.TB, it conduit.Item, how conduit.Shape) []conduit.Part {
	t.Helper()
	r := NewRenderer(0)
	var out []conduit.Part
	for off := 0; off < len(it.Source); {
		p, err := r.Part(it, off, how)
		if err != nil || p.Next <= off || len(out) > 10000 {
			t.Fatalf("part at %d: next %d, %v", off, p.Next, err)
		}
		if p.Body != nil {
			out = append(out, p)
		}
		off = p.Next
	}
	return out
}

// checkShown fails where Telegram would refuse a part or show something else than its Text.
func checkShown(t testing.TB, p conduit.Part) {
	t.Helper()
	b := p.Body.(body)
	plain := b.text
	if b.html {
		var err error
		if plain, _, err = sim.ParseHTML(b.text); err != nil {
			t.Fatalf("refused: %v\n%s", err, b.text)
		}
	}
	if plain != p.Text {
		t.Fatalf("shows %q, want %q", plain, p.Text)
	}
	if n := units16(plain); n > maxUnits || len(b.text) > maxBytes {
		t.Fatalf("%d units, %d bytes", n, len(b.text))
	}
}

var longAnswers = []string{
	strings.Repeat("All work and no play. ", 1000),
	strings.Repeat("😀", 5000), // report 19
	"```go\n" + strings.Repeat("x := 1 // \"<&>\"\n", 900) + "```\nand **done**",
	strings.Repeat("- `a` **b** [c](https://example.org/d)\n", 300),
	strings.Repeat("&<>\"", 4096),
	strings.Repeat("字", 9000),
	strings.Repeat("**a** https://example.org/x #tag\n", 200),
}

// Each part fits and is shown as it was meant, with its label and without.
// Facts A4.6, C.2; reports 18, 19, 20.
func TestPartsAreTakenByTelegram(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, src := range longAnswers {
		for _, kind := range []conduit.Kind{conduit.Answer, conduit.Notice, conduit.Attributed} {
			it := conduit.Item{Kind: kind, Severity: loop.SeverityError, Author: "slack:U<1>", Source: src, Asked: asked, At: asked.Add(time.Hour)}
			plain := partsOf(t, it, conduit.Shape{Plain: true})
			usual := partsOf(t, it, conduit.Shape{})
			again := partsOf(t, it, conduit.Shape{Repeat: true})
			if len(usual) < 2 || len(again) != len(usual) || len(plain) != len(usual) {
				t.Fatalf("%d %v: %d parts, %d repeated, %d plain", i, kind, len(usual), len(again), len(plain))
			}
			for j, p := range usual {
				checkShown(t, p)
				checkShown(t, again[j])
				checkShown(t, plain[j])
				if again[j].Next != p.Next || again[j].Text != repeatLabel+p.Text || plain[j].Text != inert(p.Text) {
					t.Fatalf("%d %v part %d is %q repeated, %q plain", i, kind, j, again[j].Text, plain[j].Text)
				}
				if b := p.Body.(body); b.first != (j == 0) {
					t.Fatalf("part %d: first is %v", j, b.first)
				}
			}
		}
	}
}

// Facts A6.3.
func TestShrinkingHalves(t *testing.T) {
	for _, src := range longAnswers {
		for shrink := range uint8(conduit.MaxShrink + 1) {
			for _, p := range partsOf(t, conduit.Item{Source: src}, conduit.Shape{Shrink: shrink, Repeat: true}) {
				checkShown(t, p)
				if n := units16(p.Text) - len(repeatLabel); n > maxUnits>>shrink {
					t.Fatalf("shrunk %d times: %d units", shrink, n)
				}
			}
		}
	}
}

func TestWhatPartsBeginWith(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		it     conduit.Item
		repeat bool
		want   string
	}{
		{conduit.Item{Source: "**hi**"}, false, "<b>hi</b>"},
		{conduit.Item{Source: "**hi**"}, true, "(this part may be a repeat)\n<b>hi</b>"},
		{conduit.Item{Source: "hi", At: at, Asked: at.Add(-10 * time.Minute)}, false, "hi"},
		{conduit.Item{Source: "hi", At: at, Asked: at.Add(-11 * time.Minute)}, false, "(asked 11 min ago)\nhi"},
		{conduit.Item{Source: "hi", At: at, Asked: at.Add(-19 * time.Hour)}, true, "(this part may be a repeat)\n(asked 19 h ago)\nhi"},
		{conduit.Item{Source: "hi", At: at, Asked: at.Add(-72 * time.Hour)}, false, "(asked 3 days ago)\nhi"},
		{conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityInfo, Source: "Try `!retry`"}, false, "Try <code>!retry</code>"},
		{conduit.Item{Kind: conduit.Notice, Severity: loop.SeveritySuccess, Source: "done"}, false, "✅ done"},
		{conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityWarn, Source: "hm"}, false, "⚠️ hm"},
		{conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityError, Source: "no"}, false, "❗ no"},
		{conduit.Item{Kind: conduit.Notice, Severity: 99, Source: "new"}, false, "new"},
		{conduit.Item{Kind: conduit.Attributed, Author: "slack:U<1>", Source: "hi"}, false, "slack:U&lt;1&gt;:\nhi"},
		{conduit.Item{Kind: conduit.Attributed, Author: " \n", Source: "hi"}, false, "Somebody:\nhi"},
		{conduit.Item{Kind: conduit.Attributed, Author: strings.Repeat("x", 500), Source: "hi"}, false, strings.Repeat("x", 64) + ":\nhi"},
	} {
		p, err := Renderer{}.Part(c.it, 0, conduit.Shape{Repeat: c.repeat})
		if err != nil || p.Body == nil {
			t.Errorf("%+v: %v", c.it, err)
			continue
		}
		checkShown(t, p)
		if got := p.Body.(body).text; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Facts A4.5, A6.4.
func TestNothingToShow(t *testing.T) {
	for _, src := range []string{" ", "\n\n", "<think>x</think>", "\u200b "} {
		p, err := Renderer{}.Part(conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityWarn, Source: src}, 0, conduit.Shape{})
		if err != nil || p.Next < len(src) {
			t.Errorf("%q: next %d, %v", src, p.Next, err)
		}
		if p.Body != nil && strings.TrimSpace(strings.TrimPrefix(p.Text, "⚠️ ")) == "" {
			t.Errorf("%q is shown as %q", src, p.Text)
		}
	}
}

// Facts D.1.
func TestPartsAreTheSameFromAnyStart(t *testing.T) {
	for _, src := range longAnswers {
		it := conduit.Item{Source: src}
		for _, p := range partsOf(t, it, conduit.Shape{}) {
			if again, _ := (Renderer{}).Part(it, p.Offset, conduit.Shape{}); fmt.Sprint(again) != fmt.Sprint(p) {
				t.Fatalf("the part at %d differs", p.Offset)
			}
		}
	}
}

// Without markup there is no code: what stood in it must not become a mention or a command, nor the message too long.
// Facts A6.1, D.17; report 27.
func TestPlainTextPingsNobody(t *testing.T) {
	it := conduit.Item{Source: strings.Repeat("`@robert` and `/stop`\n", 1000)}
	for _, p := range partsOf(t, it, conduit.Shape{Plain: true, Repeat: true}) {
		checkShown(t, p)
		if b := p.Body.(body); b.html || strings.Contains(b.text, "@r") || strings.Contains(b.text, "/s") {
			t.Fatalf("%q", b.text)
		}
		if again, _ := (Renderer{}).Part(it, p.Offset, conduit.Shape{Plain: true}); again.Next != p.Next {
			t.Fatalf("the label moves the end of the part at %d", p.Offset)
		}
	}
	long := conduit.Item{Source: "```\n" + strings.Repeat("@a ", 4000) + "\n```"}
	for _, p := range partsOf(t, long, conduit.Shape{Plain: true}) {
		checkShown(t, p)
	}
}
