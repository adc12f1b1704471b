package cognitive

import (
	"context"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
)

// Pattern answers what stands last in a conversation.
type Pattern interface {
	// Run asks the model until there is an answer, and returns the state that it
	// is on. After an error the turns that were complete are on the state all the
	// same. The last four arguments are those of loop.TurnRunner.
	Run(ctx context.Context, exec loop.TurnExecutor, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error)
}

// SingleShot asks once. A tool call in the answer is not followed up.
type SingleShot struct{}

// Run runs one turn.
func (SingleShot) Run(ctx context.Context, exec loop.TurnExecutor, st ledger.State, spec models.Spec, p provider.Provider, opts ...provider.InvokeOption) (ledger.State, error) {
	return exec.Turn(ctx, st, spec, p, opts...)
}

// answer returns the last turn of the assistant and what came after it.
func answer(st ledger.State) (t ledger.Turn, after []ledger.Turn, ok bool) {
	if st == nil {
		return ledger.Turn{}, nil, false
	}
	turns := st.Turns()
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == ledger.RoleAssistant {
			return turns[i], turns[i+1:], true
		}
	}
	return ledger.Turn{}, nil, false
}
