package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// A model that goes on calling tools when it has none any more gave no answer, which is what people are told; the thread goes on.
func TestAModelThatOnlyCallsTools(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			for i := len(turns) - 1; i >= 0; i-- {
				if turns[i].Role == ledger.RoleUser && said(turns[i]) == "next" {
					return text("fine"), nil
				} else if turns[i].Role == ledger.RoleUser {
					break
				}
			}
			return []artifact.Artifact{artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"}}, nil
		}}
		b := start(t, mem, p, func(c *session.Config) {
			c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 2}, []loop.Handler{&tools{}}
		})
		in := msg(dm, "slack:U1", "for ever")
		b.accept(in)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		if n := len(p.prompts()); n != 5 {
			t.Errorf("the model was asked %d times, want 5: four that the rounds allow, the last of them without tools, and that one again", n)
		}
		if log := b.log(dm); !strings.Contains(log[len(log)-1], "stopped without an answer; I tried twice") {
			t.Errorf("people are told %q", log[len(log)-1])
		}
		next := msg(dm, "slack:U1", "next")
		b.accept(next)
		synctest.Wait()
		b.ended(next, session.EndAnswered)
		b.stopLife()
	})
}
