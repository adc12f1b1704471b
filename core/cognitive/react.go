package cognitive

import (
	"context"
	"fmt"
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
)

// DefaultRounds is how often the model may use tools where MaxRounds isn't set.
const DefaultRounds = 16

// ReAct lets the model use tools: it asks again as long as the answer calls
// some. The executor's handlers run the tools and put the results on the state,
// so the executor needs a bound state.
type ReAct struct {
	// MaxRounds is how often the model may use tools for one question; zero
	// means DefaultRounds. A round is a turn with tool calls, however many. Turns
	// that stand on the state already, because the run was interrupted, count.
	MaxRounds int
}

// Run runs turns until one has no tool call. When MaxRounds are used up, the
// model is asked once more as before: the handlers know the limit too and tell
// it instead of running anything, and the prompt begins as the one before did.
// If it calls tools all the same, it is asked a last time without any. Run
// returns a *LimitError when even that turn has a call or says nothing, and an *UnansweredError
// when a call got no result, because the model can't go on without it. An
// executor without any state is asked once.
func (r ReAct) Run(ctx context.Context, exec loop.TurnExecutor, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error) {
	limit := r.MaxRounds
	if limit <= 0 {
		limit = DefaultRounds
	}
	for n := rounds(st); ; n = rounds(st) {
		round := opts
		if n > limit {
			round = append(slices.Clone(opts), provider.WithoutTools())
		}
		var err error
		if st, err = exec.Turn(ctx, st, spec, p, round...); err != nil {
			if n > limit && provider.KindOf(err) == provider.KindEmpty {
				return st, &LimitError{Rounds: limit}
			}
			return st, err
		}
		t, after, ok := answer(st)
		if !ok || !t.HasToolCall() {
			return st, nil
		}
		if calls := unanswered(t, after); len(calls) > 0 {
			return st, &UnansweredError{Calls: calls}
		}
		if n > limit {
			return st, &LimitError{Rounds: limit}
		}
	}
}

// rounds counts the turns with tool calls since the last question.
func rounds(st ledger.State) (n int) {
	if st == nil {
		return 0
	}
	turns := st.Turns()
	for i := len(turns) - 1; i >= 0 && turns[i].Role != ledger.RoleUser; i-- {
		if turns[i].HasToolCall() {
			n++
		}
	}
	return n
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
