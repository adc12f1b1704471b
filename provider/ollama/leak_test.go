package ollama_test

import (
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	sim "orebot/internal/sim/ollama"
)

// TestACallThatNobodyReadsIsNoAnswer: a model that is to go on behind the results of tools, with none on offer, may write a call of its own, which the
// server hands on as text. Elsewhere, and within a text, such a writing is what the model says.
func TestACallThatNobodyReadsIsNoAnswer(t *testing.T) {
	behind := []ledger.Turn{
		{Role: ledger.RoleUser, Artifacts: []artifact.Artifact{artifact.Text{Content: "q"}}},
		{Role: ledger.RoleAssistant, Artifacts: []artifact.Artifact{artifact.ToolCall{ID: "1", Name: "n", Arguments: "{}"}}},
		{Role: ledger.RoleTool, Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: "1", Content: "not run"}}},
	}
	for name, tt := range map[string]struct {
		said  []string
		turns []ledger.Turn
		opts  []provider.InvokeOption
		empty bool
	}{
		"hermes":            {said: []string{"\n<tool", "_call>\n{\"name\":\"n\",", "\"arguments\":{}}</tool_call>"}, turns: behind, empty: true},
		"mistral":           {said: []string{"[TOOL_CALLS][{\"name\":\"n\"}]"}, turns: behind, empty: true},
		"llama":             {said: []string{`{"name": "n", `, `"parameters": {}}`}, turns: behind, empty: true},
		"an answer":         {said: []string{"It is ", "noon."}, turns: behind},
		"JSON":              {said: []string{`{"name": "Ada"}`}, turns: behind},
		"about calls":       {said: []string{"A call is written <tool_call>."}, turns: behind},
		"behind a question": {said: []string{`<tool_call>{"name":"n","arguments":{}}`}, turns: behind[:1]},
		"tools on offer":    {said: []string{`<tool_call> is a mark`}, turns: behind, opts: []provider.InvokeOption{provider.WithTools(clock)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := serve(t, sim.Options{Answer: func(sim.Request) sim.Reply { return sim.Say(tt.said...) }})
			got, err := invoke(t.Context(), p, state(tt.turns...), models.Spec{Model: "tiny"}, tt.opts...)
			whole := ""
			for _, s := range tt.said {
				whole += s
			}
			if tt.empty && (provider.KindOf(err) != provider.KindEmpty || got.text != "") || !tt.empty && (err != nil || got.text != whole) {
				t.Errorf("text %q, %v", got.text, err)
			}
		})
	}
}
