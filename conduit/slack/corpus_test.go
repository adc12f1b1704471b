package slack

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"orebot/conduit"
	"orebot/conduit/markup"
	"orebot/core/ledger"
)

// answers are the answers written for the renderers, by name.
func answers(t testing.TB) map[string]string {
	t.Helper()
	files, _ := filepath.Glob("../markup/testdata/answers/*.md")
	if len(files) < 60 {
		t.Fatalf("%d answers", len(files))
	}
	out := map[string]string{}
	for _, f := range files {
		md, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".md")] = string(md)
	}
	return out
}

// shown are an answer's messages, and the file behind them, as a person would see them.
func shown(t testing.TB, md string, maxParts int) (messages []string, rest string) {
	t.Helper()
	r := NewRenderer(maxParts)
	it := conduit.Item{Kind: conduit.Answer, Source: md, Turn: ledger.TurnID{Thread: ledger.ThreadID{1}, Seq: 2}}
	for at := 0; at < len(md); {
		p, err := r.Part(it, at, conduit.Shape{Posted: len(messages)})
		if err != nil || p.Next <= at {
			t.Fatalf("at %d of %d: next %d, %v", at, len(md), p.Next, err)
		}
		if b, ok := p.Body.(body); ok {
			messages, rest = append(messages, p.Text), b.file.data
		}
		at = p.Next
	}
	return messages, rest
}

// TestGoldenAnswers is what people see of each answer, with three messages at most. Run with -update after a change that is meant.
// Facts A5.1, A5.7.
func TestGoldenAnswers(t *testing.T) {
	for name, md := range answers(t) {
		messages, rest := shown(t, md, 3)
		got := strings.Join(messages, "\n=====\n") + "\n"
		if rest != "" {
			got += fmt.Sprintf("===== %d bytes\n%s\n[…]\n", len(rest), rest[:runeEnd(rest, min(len(rest), 200))])
		}
		golden := filepath.Join("testdata", "answers", name+".txt")
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

func runeEnd(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// checkAnswer holds an answer to the invariants: nothing lost, nothing live, within the limit, fences balanced; and no part under 200
// characters, unless that can't be helped. The rest in a file is the end of the source.
func checkAnswer(t testing.TB, md string) {
	t.Helper()
	for _, room := range []int{100, 700, 2500} {
		mrkdwnTexts(t, md, room)
	}
	checkOrphans(t, md, mrkdwnTexts(t, md, 100))
	messages, rest := shown(t, md, 3)
	if len(messages) > 4 || len(messages) == 4 && rest == "" {
		t.Errorf("%d messages, a file of %d bytes", len(messages), len(rest))
	}
	if tail := rest[max(0, len(rest)-200):]; !strings.HasSuffix(squeezed(md), squeezed(tail)) {
		t.Errorf("the file ends in %q", tail)
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// checkOrphans finds parts that are shorter than need be.
func checkOrphans(t testing.TB, md string, parts []string) {
	t.Helper()
	for i, p := range parts {
		if n := utf8.RuneCountInString(p); len(parts) > 1 && n < markup.Orphan {
			t.Errorf("part %d of %d has %d characters: %q", i+1, len(parts), n, p)
		}
	}
}

// TestAnswersKeepTheInvariants: facts A5.2, A5.8, A5.12.
func TestAnswersKeepTheInvariants(t *testing.T) {
	for name, md := range answers(t) {
		t.Run(name, func(t *testing.T) { checkAnswer(t, md) })
	}
}

// TestCommonMarkExamples holds those of CommonMark's own specification to them, each alone and all in one.
func TestCommonMarkExamples(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Skip("there is no go command to find CommonMark's examples with: ", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Skip("CommonMark's examples aren't in the module cache: ", err)
	}
	var list []struct{ Markdown string }
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 600 {
		t.Fatalf("%d examples: %v", len(list), err)
	}
	var all strings.Builder
	for _, e := range list {
		for _, room := range []int{0, 3300} {
			mrkdwnTexts(t, e.Markdown, room)
		}
		all.WriteString(e.Markdown + "\n\n")
	}
	checkAnswer(t, all.String())
}

// FuzzAnswer holds whatever a model writes to the invariants, cut into messages and a file, in every shape. Facts A5.2, A5.12.
func FuzzAnswer(f *testing.F) {
	for _, md := range answers(f) {
		f.Add(md[:runeEnd(md, min(len(md), fuzzLength))], uint8(3), uint8(3), false)
	}
	f.Add("- a\n\n```go\nx\n", uint8(0), uint8(2), true)
	f.Fuzz(func(t *testing.T, md string, most, shrink uint8, plain bool) {
		if len(md) > fuzzLength {
			return
		}
		r := NewRenderer(int(most % 8))
		it := conduit.Item{Kind: conduit.Answer, Source: md, Turn: ledger.TurnID{Thread: ledger.ThreadID{1}, Seq: 2}}
		how := conduit.Shape{Plain: plain, Shrink: shrink % 4, Inline: shrink&4 != 0}
		for at := 0; at < len(md); {
			p, err := r.Part(it, at, how)
			if err != nil || p.Next <= at {
				t.Fatalf("at %d: next %d, %v", at, p.Next, err)
			}
			b, ok := p.Body.(body)
			if ok {
				how.Posted++
				checkMessage(t, p.Text, plain)
			}
			if b.file.name != "" && (p.Next != len(md) || how.Inline || plain || b.file.data == "") {
				t.Fatalf("a file of %d bytes, next %d", len(b.file.data), p.Next)
			}
			at = p.Next
		}
	})
}

// checkMessage is checkMrkdwn for messages of every shape: plain ones have no fences.
func checkMessage(t testing.TB, s string, plain bool) {
	t.Helper()
	if !plain {
		checkMrkdwn(t, s, 0)
		return
	}
	if n := utf8.RuneCountInString(s); n > maxText || strings.TrimSpace(s) == "" || strings.ContainsAny(s, "<>") {
		t.Fatalf("%d characters: %q", n, s)
	}
}
