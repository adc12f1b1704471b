// Package budget keeps a prompt within the model's context window: it drops the oldest turns from the view, never from the
// ledger. The size of a turn is estimated from its bytes, on the safe side for prose in most scripts.
package budget

import (
	"context"
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// BytesPerToken is the estimate's divisor, and TurnTokens what a turn costs beside its text.
const (
	BytesPerToken = 3
	TurnTokens    = 8
)

// Budget is a loop.Transform that lets at most Tokens estimated tokens of turns through. The newest turn always stays. Where
// turns must go, it cuts down to three quarters, so that the next few prompts begin alike and the server's prefix cache holds.
type Budget struct {
	Tokens int
}

// Transform returns a view of the newest turns that fit, beginning with a user turn. Where the exchange that is going on doesn't
// fit by itself, its question stays in front, and no tool's result stays without its call.
func (b Budget) Transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	if st == nil || b.Tokens <= 0 {
		return st, nil
	}
	b.Tokens = max(1, b.Tokens>>halvings(ctx))
	turns := st.Turns()
	start := b.start(turns)
	if start == 0 {
		return st, nil
	}
	return ledger.NewView(st, whole(turns, start)), nil
}

type halvingsKey struct{}

// WithHalvings halves the budget n times for what runs under the context: the server has refused a prompt that the estimate let
// through, because this conversation has more tokens in its bytes.
func WithHalvings(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, halvingsKey{}, n)
}

func halvings(ctx context.Context) int {
	n, _ := ctx.Value(halvingsKey{}).(int)
	return n
}

// whole returns the turns from start on, as far as they can be understood without those before.
func whole(turns []ledger.Turn, start int) []ledger.Turn {
	if turns[start].Role == ledger.RoleUser {
		return turns[start:]
	}
	for start > 0 && turns[start].Role == ledger.RoleTool && lastGroup(turns[start:]) {
		start-- // the call that the newest results belong to
	}
	for turns[start].Role == ledger.RoleTool && !lastGroup(turns[start:]) {
		start++
	}
	for q := start - 1; q >= 0; q-- {
		if turns[q].Role == ledger.RoleUser {
			return slices.Concat(turns[q:q+1], turns[start:])
		}
	}
	return turns[start:]
}

// lastGroup reports whether nothing but results of tools is left.
func lastGroup(turns []ledger.Turn) bool {
	return !slices.ContainsFunc(turns, func(t ledger.Turn) bool { return t.Role != ledger.RoleTool })
}

// start returns the first turn to keep. It walks forward, so that the cut depends only on what stands before it and stays
// where it is until the next one is due.
func (b Budget) start(turns []ledger.Turn) int {
	start, sum := 0, 0
	for i := range turns {
		sum += Estimate(turns[i])
		if sum <= b.Tokens {
			continue
		}
		for start < i && sum > b.Tokens*3/4 {
			sum -= Estimate(turns[start])
			start++
		}
	}
	for s := start; start > 0 && s < len(turns); s++ {
		if turns[s].Role == ledger.RoleUser {
			return s
		}
	}
	return start
}

// Estimate returns about how many tokens a turn costs in a prompt. Reasoning isn't counted: it never goes back to the model.
func Estimate(t ledger.Turn) int {
	n := 0
	for _, a := range t.Artifacts {
		n += size(a)
	}
	return TurnTokens + n/BytesPerToken
}

func size(a artifact.Artifact) int {
	switch a := a.(type) {
	case artifact.Text:
		return len(a.Content)
	case artifact.ToolCall:
		return len(a.Name) + len(a.Arguments)
	case artifact.ToolResult:
		return len(a.Content)
	default:
		return 0
	}
}
