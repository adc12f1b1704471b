package slack

import (
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/loop"
)

func TestHeads(t *testing.T) {
	item := func(k conduit.Kind, s loop.Severity, author, source string) conduit.Item {
		return conduit.Item{Kind: k, Severity: s, Author: author, Source: source, Turn: ledger.TurnID{Seq: 1}}
	}
	late := item(conduit.Answer, 0, "", "> so *late*")
	late.Asked = time.Unix(1795982400, 0)
	late.At = late.Asked.Add(19 * time.Hour)
	for want, it := range map[string]conduit.Item{
		"(asked 19 h ago)\n> so _late_":     late,
		"✅ done":                            item(conduit.Notice, loop.SeveritySuccess, "", "done"),
		"ℹ️ note":                           item(conduit.Notice, loop.SeverityInfo, "", "note"),
		"⚠️ *careful*":                      item(conduit.Notice, loop.SeverityWarn, "", "**careful**"),
		"❌\n```\nbad\n```":                  item(conduit.Notice, loop.SeverityError, "", "```\nbad\n```"),
		"*8246* wrote on Telegram: hi":      item(conduit.Attributed, 0, "telegram:8246", "hi"),
		"*Ub* wrote on Slack:\n> quoted":    item(conduit.Attributed, 0, "slack:U*b", "> quoted"),
		"*Somebody* wrote elsewhere: hello": item(conduit.Attributed, 0, "", "hello"),
		"&lt;!channel&gt; hi":               item(conduit.Answer, 0, "", "<!channel> hi"),
	} {
		p, err := Renderer{}.Part(it, 0, conduit.Shape{})
		if err != nil || p.Text != want {
			t.Errorf("%q, %v; want %q", p.Text, err, want)
		}
		r, err := Renderer{}.Part(it, 0, conduit.Shape{Repeat: true})
		if err != nil || r.Text != repeatLabel+want {
			t.Errorf("repeated %q, %v", r.Text, err)
		}
	}
}

// TestRendererParsesOnce: a courier's Renderer parses a source once for all of its parts, and says what the zero Renderer says.
func TestRendererParsesOnce(t *testing.T) {
	r := NewRenderer(0)
	for _, source := range []string{long(""), "**other** " + long(""), long("")} {
		it := conduit.Item{Source: source}
		for off := 0; off < len(source); {
			got, err := r.Part(it, off, conduit.Shape{})
			want, err2 := Renderer{}.Part(it, off, conduit.Shape{})
			if err != nil || err2 != nil || got != want {
				t.Fatalf("at %d: %+v, %v; want %+v, %v", off, got, err, want, err2)
			}
			off = got.Next
		}
		if doc := r.parse(source); doc != r.parse(source) {
			t.Error("parsed twice")
		}
	}
}

// fuzzLength bounds what is fuzzed, in bytes. A shrunk part is as small as an eighth of a whole one: a source of this length has several.
const fuzzLength = 3000

// FuzzParts: parts of any source, in any shape, are within the limit, hold nothing live, and come to an end. Facts A5.1, A5.10.
func FuzzParts(f *testing.F) {
	f.Add("hello **world**", true, uint8(3), true)
	f.Add(strings.Repeat("<&>", 400), true, uint8(2), false)
	f.Add(strings.Repeat("é漢👩‍👩‍👧 \xff", 50), false, uint8(3), true)
	f.Add("- a\n  > b\n\n```go\n"+strings.Repeat("x := 1 // <@U1>\n", 60)+"```\n| a | b |\n|---|---|\n| 1 | <!here> |\n", false, uint8(3), false)
	f.Fuzz(func(t *testing.T, source string, plain bool, shrink uint8, repeat bool) {
		if len(source) > fuzzLength {
			return
		}
		r := NewRenderer(0)
		it := conduit.Item{Kind: conduit.Attributed, Author: "telegram:" + source[:min(len(source), 80)], Source: source}
		how := conduit.Shape{Plain: plain, Shrink: shrink % 4, Repeat: repeat}
		for off, n := 0, 0; off < len(source); n++ {
			p, err := r.Part(it, off, how)
			if err != nil || p.Next <= off || n > len(source) {
				t.Fatalf("at %d: next %d, %v", off, p.Next, err)
			}
			if len([]rune(p.Text)) > maxText {
				t.Errorf("at %d: %d characters", off, len([]rune(p.Text)))
			}
			for _, live := range []string{"<!", "<@", "<#"} {
				if strings.Contains(p.Text, live) {
					t.Errorf("at %d: live %s in %q", off, live, p.Text)
				}
			}
			off = p.Next
		}
	})
}
