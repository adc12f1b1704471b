package cognitive

import (
	"context"
	"fmt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
)

// DefaultRounds is how often ReAct asks where MaxRounds isn't set.
const DefaultRounds = 16

// ReAct lets the model use tools: it asks again as long as the answer calls
// some. The executor's handlers run the tools and put the results on the state,
// so the executor needs a bound state.
type ReAct struct {
	// MaxRounds is how often the model may be asked; zero means DefaultRounds.
	MaxRounds int
}

// Run runs turns until one has no tool call. It returns a *LimitError when the
// last turn that MaxRounds allows still has one, and an *UnansweredError when a
// call got no result, because the model can't go on without it. An executor
// without any state is asked once.
func (r ReAct) Run(ctx context.Context, exec loop.TurnExecutor, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error) {
	rounds := r.MaxRounds
	if rounds <= 0 {
		rounds = DefaultRounds
	}
	for range rounds {
		var err error
		if st, err = exec.Turn(ctx, st, spec, p, opts...); err != nil {
			return st, err
		}
		t, after, ok := answer(st)
		if !ok || !t.HasToolCall() {
			return st, nil
		}
		if calls := unanswered(t, after); len(calls) > 0 {
			return st, &UnansweredError{Calls: calls}
		}
	}
	return st, &LimitError{Rounds: rounds}
}

// unanswered returns the tool calls of t that have no result in after. Models
// may give several calls the same id; each needs a result of its own.
func unanswered(t ledger.Turn, after []ledger.Turn) []artifact.ToolCall {
	results := make(map[string]int)
	for _, a := range after {
		for _, art := range a.Artifacts {
			if r, ok := art.(artifact.ToolResult); ok {
				results[r.ToolCallID]++
			}
		}
	}
	var open []artifact.ToolCall
	for _, art := range t.Artifacts {
		c, ok := art.(artifact.ToolCall)
		if !ok {
			continue
		}
		if results[c.ID]--; results[c.ID] < 0 {
			open = append(open, c)
		}
	}
	return open
}

// LimitError says that the model still wanted tools when its rounds were up.
type LimitError struct{ Rounds int }

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("cognitive: still calling tools after %d rounds", e.Rounds)
}

// UnansweredError says that nothing answered some tool calls: no handler runs
// tools, or the executor has no bound state for their results.
type UnansweredError struct{ Calls []artifact.ToolCall }

// Error names the first call.
func (e *UnansweredError) Error() string {
	return fmt.Sprintf("cognitive: %d tool calls without a result, the first to %q", len(e.Calls), e.Calls[0].Name)
}
