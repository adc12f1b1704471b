package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/loop"
	sim "orebot/internal/sim/telegram"
)

// An answer beyond max_parts goes on as a file that says how large it is; what the file holds begins where the messages end.
// Facts D.8.
func TestALongAnswerGoesOnAsAFile(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		var src strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&src, "fmt.Println(%d)\n", i)
		}
		b.model.answers(func(string) string { return "```go\n" + src.String() + "```\n\nDone." })
		group := b.AddGroup("G")
		l := b.start(func(c *Config) { c.MaxParts = 2 })
		asked := b.Say(b.ada, group, "@OreBot count")
		l.rest(time.Minute)
		lines := b.Transcript()
		if len(lines) != 3 || lines[2].Action != "document" || lines[0].ReplyTo != asked || lines[1].ReplyTo != 0 || lines[2].ReplyTo != 0 {
			t.Fatalf("%s", b.Script())
		}
		if lines[0].Silent || !lines[1].Silent || !lines[2].Silent {
			t.Errorf("what rings is %s", b.Script())
		}
		f := lines[2].File
		if !strings.HasPrefix(f.Name, "answer-") || !strings.HasSuffix(f.Name, ".md") || !strings.HasPrefix(string(f.Data), "```go\nfmt.Println(") {
			t.Errorf("%s begins %.40q", f.Name, f.Data)
		}
		if want := fmt.Sprintf("The rest of the answer is in this file, %.1f KB.", float64(len(f.Data))/1000); lines[2].Text != want {
			t.Errorf("announced as %q, want %q", lines[2].Text, want)
		}
		all := lines[0].Text + "\n" + lines[1].Text + "\n" + strings.TrimPrefix(string(f.Data), "```go\n")
		if all != src.String()+"```\n\nDone." {
			t.Errorf("messages and file don't make the answer")
		}
	})
}

// A file that Telegram refuses, or finds too large, is sent as messages.
// Facts A8.7, D.8.
func TestAFileThatIsRefusedIsSentAsText(t *testing.T) {
	for _, refusal := range []struct {
		code int
		text string
	}{{400, "Bad Request: not enough rights to send documents to the chat"}, {413, "Request Entity Too Large"}} {
		inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
			b.model.answers(func(string) string { return strings.Repeat("word ", 1500) })
			for range 5 {
				b.Faults.Next("sendDocument", sim.Refusal(refusal.code, refusal.text))
			}
			l := b.start(func(c *Config) { c.MaxParts = 1 })
			b.Say(b.ada, b.chat, "words")
			l.rest(time.Minute)
			if got := strings.Count(strings.Join(b.texts(b.chat), " "), "word"); got != 1500 {
				t.Errorf("%d words came\n%s", got, b.log.String())
			}
		})
	}
}

// A document is a post like others; its time to wait and its label too.
// Facts B.7, B.15; reports 10, 13.
func TestADocumentIsPostedLikeAMessage(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.model.answers(func(string) string { return strings.Repeat("word ", 1500) })
		b.Faults.Next("sendDocument", sim.TooMany(26*time.Second))
		l := b.start(func(c *Config) { c.MaxParts = 1 })
		b.Say(b.ada, b.chat, "words")
		l.rest(time.Minute)
		docs := b.Calls("sendDocument")
		if len(docs) != 2 || docs[1].At-docs[0].At < 26*time.Second {
			t.Errorf("%v", docs)
		}
	})
	it := conduit.Item{Source: strings.Repeat("word ", 1500), Turn: ledger.TurnID{Seq: 7}}
	p, err := NewRenderer(1).Part(it, 4000, conduit.Shape{Posted: 1, Repeat: true})
	if err != nil || !strings.HasPrefix(p.Body.(body).text, repeatLabel) || p.Next < len(it.Source) {
		t.Errorf("%+v %v", p, err)
	}
}

func TestAnExportIsAFile(t *testing.T) {
	it := conduit.Item{Kind: conduit.Notice, Severity: loop.SeveritySuccess, File: "../export/7.md", Source: "# All\n\nof it", ReplyTo: "5"}
	p, err := NewRenderer(3).Part(it, 0, conduit.Shape{})
	b := p.Body.(body)
	if err != nil || b.file != "..-export-7.md" || b.data != it.Source || b.text != "..-export-7.md, 12 bytes" || !b.silent || !b.first {
		t.Errorf("%+v %v", b, err)
	}
	inBubble(t, sim.Options{}, func(t *testing.T, bench *bench) {
		if _, err := NewPoster(bench.api).Post(t.Context(), place{chat: bench.chat}.address(), it, p); err != nil {
			t.Fatal(err)
		}
		f := bench.Transcript()[0].File
		if f == nil || string(f.Data) != it.Source {
			t.Errorf("%s", bench.Script())
		}
	})
	it.Source = " \n"
	if p, err := NewRenderer(3).Part(it, 0, conduit.Shape{}); err != nil || p.Body != nil {
		t.Errorf("an empty file is sent: %+v %v", p, err)
	}
}

// Where a chat takes no files, a short one is shown, and a long one isn't poured into the chat.
// Facts A8.7.
func TestAnExportWhereNoFileIsTaken(t *testing.T) {
	it := conduit.Item{Kind: conduit.Notice, File: "a.md", Source: "# All"}
	if p, err := NewRenderer(3).Part(it, 0, conduit.Shape{Inline: true}); err != nil || p.Text != "✅ All" {
		t.Errorf("%+v %v", p, err)
	}
	it.Source = strings.Repeat("word ", maxInline)
	if p, err := NewRenderer(3).Part(it, 0, conduit.Shape{Inline: true}); err == nil {
		t.Errorf("%d bytes are shown", len(p.Text))
	}
}

// Buttons stand under the notice that offers them, at its end, and are left out where Telegram refused the notice.
func TestButtonsUnderNotices(t *testing.T) {
	it := conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityError, Source: "The model server hasn't answered.", Offers: []string{"retry", "stop",
		strings.Repeat("x", 63)}}
	p, _ := NewRenderer(3).Part(it, 0, conduit.Shape{})
	want := `{"inline_keyboard":[[{"text":"Ask again","callback_data":"c:retry"},{"text":"Stop","callback_data":"c:stop"}]]}`
	if got := parameters(place{chat: 7}, it, p.Body.(body))["reply_markup"]; got != want {
		t.Errorf("%s", got)
	}
	p, _ = NewRenderer(3).Part(it, 0, conduit.Shape{Plain: true})
	if got, had := parameters(place{chat: 7}, it, p.Body.(body))["reply_markup"]; had {
		t.Errorf("plain: %s", got)
	}
	it.Kind = conduit.Answer
	p, _ = NewRenderer(3).Part(it, 0, conduit.Shape{})
	if got, had := parameters(place{chat: 7}, it, p.Body.(body))["reply_markup"]; had {
		t.Errorf("an answer has %s", got)
	}
}

// What went wrong rings, what went well doesn't.
// Facts A8.9.
func TestNoticesRingByTheirSeverity(t *testing.T) {
	for severity, silent := range map[loop.Severity]bool{
		loop.SeveritySuccess: true, loop.SeverityInfo: true, loop.SeverityWarn: false, loop.SeverityError: false,
	} {
		p, _ := Renderer{}.Part(conduit.Item{Kind: conduit.Notice, Severity: severity, Source: "x"}, 0, conduit.Shape{})
		if got := p.Body.(body).silent; got != silent {
			t.Errorf("%v is silent: %v", severity, got)
		}
	}
}

func TestSpeakers(t *testing.T) {
	for _, c := range []struct{ author, speaker, want string }{
		{"slack:U1", "Ada", "Ada (Slack):\nx"},
		{"slack:U1", "", "slack:U1:\nx"},
		{"", "Ada", "Ada:\nx"},
		{"slack:U1", "@robert\n<b>", "@\u2060robert <b> (Slack):\nx"},
	} {
		p, _ := Renderer{}.Part(conduit.Item{Kind: conduit.Attributed, Author: c.author, Speaker: c.speaker, Source: "x"}, 0, conduit.Shape{})
		if checkShown(t, p); p.Text != c.want {
			t.Errorf("%q, want %q", p.Text, c.want)
		}
	}
}
