package telegram

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// hostileThoughts is reasoning that tries to be more than text.
var hostileThoughts = []string{
	"carry the one",
	"</blockquote><b>I am the answer</b> <a href=\"https://evil.example\">x</a> & <think>",
	"```\nnever closed **bold** [x](https://evil.example)",
	"@everybody /stop@the_bot #tag https://evil.example/x",
	"\u202eright to left\x00\x07 and \u2028 lines",
	strings.Repeat("\n", 300) + "deep" + strings.Repeat("\nx", 400),
	strings.Repeat("<&>", 330),
	strings.Repeat("@ab ", 249),
}

// The reasoning stands folded above an answer, as text: Telegram takes it whatever it is, it pings nobody and is no markup, and the
// answer's parts still fit, each with its label and without.
func TestReasoningIsFolded(t *testing.T) {
	for i, thought := range hostileThoughts {
		for _, src := range append([]string{"Four."}, longAnswers...) {
			it := conduit.Item{Source: src, Reasoning: thought}
			usual, again := partsOf(t, it, conduit.Shape{}), partsOf(t, it, conduit.Shape{Repeat: true})
			for j, p := range usual {
				checkShown(t, p)
				checkShown(t, again[j])
				if again[j].Next != p.Next || again[j].Text != repeatLabel+p.Text {
					t.Fatalf("%d: part %d is %q repeated", i, j, again[j].Text)
				}
				html := p.Body.(body).text
				if n := strings.Count(html, "<blockquote expandable>"); n != map[bool]int{true: 1}[j == 0] {
					t.Fatalf("%d: part %d has %d folded quotes", i, j, n)
				}
			}
			first := usual[0].Body.(body).text
			quote, _, _ := strings.Cut(strings.TrimPrefix(first, "<blockquote expandable>"), "</blockquote>")
			if strings.Contains(quote, "<") || strings.Contains(quote, "@e") || strings.Contains(quote, "/stop") {
				t.Errorf("%d: live in %q", i, quote)
			}
		}
	}
}

// Where there is no markup, or Telegram found the part too big, the answer stands alone.
func TestReasoningGivesWay(t *testing.T) {
	it := conduit.Item{Source: "Four.", Reasoning: "carry the one"}
	for _, how := range []conduit.Shape{{Plain: true}, {Shrink: 1}, {Plain: true, Shrink: 3}} {
		if p := partsOf(t, it, how); len(p) != 1 || p[0].Text != "Four." {
			t.Errorf("%+v: %+v", how, p)
		}
	}
	it.Reasoning = " \u202e\n"
	if p := partsOf(t, it, conduit.Shape{}); p[0].Text != "Four." {
		t.Errorf("nothing visible: %q", p[0].Text)
	}
}

// No answer becomes a file because the model thought.
func TestReasoningPushesNoAnswerIntoAFile(t *testing.T) {
	r := NewRenderer(3)
	files := func(it conduit.Item) (messages, files int) {
		for off := 0; off < len(it.Source); {
			p, err := r.Part(it, off, conduit.Shape{Posted: messages})
			if err != nil {
				t.Fatal(err)
			}
			if off = p.Next; p.Body.(body).file != "" {
				files++
				continue
			}
			messages++
		}
		return messages, files
	}
	thought := strings.Repeat("hm, ", 260)
	for n := 1; n <= 1000; n += 37 {
		src := strings.Repeat("All work and no play. ", n)
		_, plain := files(conduit.Item{Source: src})
		if m, f := files(conduit.Item{Source: src, Reasoning: thought}); f > plain || m > 4 {
			t.Errorf("%d bytes: %d messages and %d files, %d without the reasoning", len(src), m, f, plain)
		}
	}
}

// thinker is a model that thinks before it answers.
type thinker struct{}

func (thinker) Invoke(_ context.Context, _ ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	ch <- artifact.Reasoning{Content: "carry <b>the</b> one"}
	ch <- artifact.Text{Content: "Four."}
	return nil
}

// Through the real conduit, with a death between the answer and its post, and with the setting changed in between: what was decided
// when the model had answered is what is shown.
func TestReasoningIsDecidedWithTheTurn(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		show := func(on bool) func(*session.Config) {
			return func(c *session.Config) { c.Provider, c.ShowReasoning = thinker{}, on }
		}
		b.sessions = show(true)
		down := slices.Repeat([]fault.Fault{{Status: 500}}, 3)
		b.Faults.Next("sendMessage", down...)
		l := b.start()
		time.Sleep(time.Second)
		b.Say(b.ada, b.chat, "2 + 2?")
		l.rest(time.Second)
		b.want(b.chat)
		b.sessions = show(false)
		l = b.start()
		time.Sleep(10 * time.Second)
		b.Say(b.ada, b.chat, "3 + 1?")
		l.rest(10 * time.Second)
		b.want(b.chat, "💭 Reasoning\ncarry <b>the</b> one\nFour.", "Four.")
	})
}
