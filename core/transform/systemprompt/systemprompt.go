package systemprompt

import (
	"context"
	"fmt"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// Prompt is a loop.Transform that puts its text in front as a system turn. The
// text is asked for at each turn; one that changes from call to call costs the
// server its prompt cache.
type Prompt func(ctx context.Context) (string, error)

var _ loop.Transform = Prompt(nil)

// Fixed returns a Prompt that always says the same.
func Fixed(text string) Prompt {
	return func(context.Context) (string, error) { return text, nil }
}

// Transform returns a view of st with one RoleSystem turn in front, or st itself
// where the text is blank. The error of the text's source ends the turn.
func (p Prompt) Transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	text, err := p(ctx)
	if err != nil {
		return nil, fmt.Errorf("system prompt: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return st, nil
	}
	return ledger.Prepend(st, ledger.Turn{
		Role:      ledger.RoleSystem,
		Artifacts: []artifact.Artifact{artifact.Text{Content: text}},
	}), nil
}
