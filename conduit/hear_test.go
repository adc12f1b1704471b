package conduit

import (
	"context"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

func TestOnlyWhatIsShownNudges(t *testing.T) {
	const here = session.Address("sim:here")
	turn := func(r ledger.Role, from string, draft bool, arts ...artifact.Artifact) loop.OutputEvent {
		return loop.TurnCompleteEvent{Turn: ledger.Turn{Role: r, Provenance: from, Draft: draft, Artifacts: arts}}
	}
	recorded := session.WithSeq(context.Background(), 7)
	for _, c := range []struct {
		name string
		ev   loop.OutputEvent
		want bool
	}{
		{"an answer", turn(ledger.RoleAssistant, string(here), false), true},
		{"a draft", turn(ledger.RoleAssistant, "", true), false},
		{"a tool call", turn(ledger.RoleAssistant, "", false, artifact.ToolCall{ID: "1"}), false},
		{"one's own words", turn(ledger.RoleUser, string(here), false), false},
		{"words from another address", turn(ledger.RoleUser, "sim:there", false), true},
		{"a tool's result", turn(ledger.RoleTool, "", false), false},
		{"a notice on the log", loop.NoticeEvent{Ctx: recorded}, true},
		{"progress", loop.NoticeEvent{Ctx: context.Background()}, false},
		{"another kind", loop.LifecycleEvent{Phase: "done"}, false},
	} {
		if got := shows(here, c.ev); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
