package tool

import (
	"context"
	"encoding/json"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// round is what one turn of the model asks for.
type round struct {
	calls  []artifact.ToolCall // that have no result yet, in their order
	number int                 // which one since the question, from 1
	before map[string]int      // how often each call was made since the question, before these
}

// roundOf finds the turn that a call stands in, and is empty where the call has its result. Where the conversation isn't known, the
// call stands alone.
func roundOf(ctx context.Context, call artifact.ToolCall) round {
	st, ok := loop.StateFrom(ctx)
	if !ok {
		return round{calls: []artifact.ToolCall{call}, number: 1}
	}
	turns := st.Turns()
	last := len(turns) - 1
	for last >= 0 && turns[last].Role != ledger.RoleAssistant {
		last--
	}
	if last < 0 {
		return round{calls: []artifact.ToolCall{call}, number: 1}
	}
	r := round{calls: openCalls(turns[last], turns[last+1:]), number: 1, before: map[string]int{}}
	for i := last - 1; i >= 0 && turns[i].Role != ledger.RoleUser; i-- {
		calls := callsOf(turns[i])
		if len(calls) > 0 {
			r.number++
		}
		for _, c := range calls {
			r.before[fingerprint(c)]++
		}
	}
	return r
}

// openCalls returns the calls of t that have no result in after. Models may give several calls the same id; each gets its own result.
func openCalls(t ledger.Turn, after []ledger.Turn) (open []artifact.ToolCall) {
	results := map[string]int{}
	for _, a := range after {
		for _, art := range a.Artifacts {
			if r, ok := art.(artifact.ToolResult); ok {
				results[r.ToolCallID]++
			}
		}
	}
	for _, c := range callsOf(t) {
		if results[c.ID]--; results[c.ID] < 0 {
			open = append(open, c)
		}
	}
	return open
}

func callsOf(t ledger.Turn) (calls []artifact.ToolCall) {
	for _, art := range t.Artifacts {
		if c, ok := art.(artifact.ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// fingerprint is the same for calls that ask for the same, however their arguments are written.
func fingerprint(c artifact.ToolCall) string {
	args := c.Arguments
	var v any
	if json.Unmarshal([]byte(args), &v) == nil {
		if b, err := json.Marshal(v); err == nil { // keys in order
			args = string(b)
		}
	}
	return c.Name + "\x00" + args
}
