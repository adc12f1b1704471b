package conduit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// What is shown of the reasoning depends on the turn alone, and the answer's source, in which offsets count, never on the reasoning.
func TestReasoningOfATurn(t *testing.T) {
	long := strings.Repeat("漢字👩‍👩‍👧 words ", 5000)
	for _, c := range []struct{ name, thought, want string }{
		{"none", "", ""},
		{"blank", " \n\t", ""},
		{"short", "\n carry the one \n", "carry the one"},
		{"full", strings.Repeat("é", maxReasoning), strings.Repeat("é", maxReasoning)},
	} {
		turn := ledger.Turn{Role: ledger.RoleAssistant, ShowReasoning: true, Artifacts: []artifact.Artifact{
			artifact.Reasoning{Content: c.thought}, artifact.Text{Content: "Four."}}}
		if got := reasoningOf(turn); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
		if got := sourceOf(turn); got != "Four." {
			t.Errorf("%s: the source is %q", c.name, got)
		}
		if turn.ShowReasoning = false; reasoningOf(turn) != "" {
			t.Errorf("%s: shown unasked", c.name)
		}
	}
	got := reasoningOf(ledger.Turn{ShowReasoning: true, Artifacts: []artifact.Artifact{artifact.Reasoning{Content: long}}})
	head, size, _ := strings.Cut(got, " …\n")
	if !strings.HasPrefix(long, head) || !utf8.ValidString(got) || utf8.RuneCountInString(head) > maxReasoning ||
		utf8.RuneCountInString(head) < maxReasoning*8/10 || size != "(the beginning of 69999 characters)" {
		t.Errorf("%d characters, %q", utf8.RuneCountInString(head), size)
	}
}
