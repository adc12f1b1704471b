package conduit

import (
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

func TestACutAnswerSaysSo(t *testing.T) {
	note := "\n\n" + limitNote
	for _, c := range []struct{ name, text, want string }{
		{"prose", "half a ", "half a" + note},
		{"an open fence", "see:\n```go\nfunc main() {\n", "see:\n```go\nfunc main() {\n```" + note},
		{"a closed fence", "```\nx\n```\nand", "```\nx\n```\nand" + note},
		{"a longer fence around a shorter one", "````md\n```\nx\n```\n", "````md\n```\nx\n```\n````" + note},
		{"tildes", "~~~\nx", "~~~\nx\n~~~" + note},
		{"inline code isn't a fence", "```x``` and", "```x``` and" + note},
		{"an info string doesn't close", "```\n```go\nx", "```\n```go\nx\n```" + note},
	} {
		turn := ledger.Turn{Role: ledger.RoleAssistant, Artifacts: []artifact.Artifact{
			artifact.Text{Content: c.text}, artifact.Finish{Reason: "length"}}}
		if got := sourceOf(turn); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		turn.Artifacts = turn.Artifacts[:1]
		if got := sourceOf(turn); got != c.text {
			t.Errorf("%s, whole: %q", c.name, got)
		}
	}
}
