package budget

import (
	"context"
	"fmt"
	"math"

	"orebot/core/ledger"
)

// Plan says what the prompts of one message may hold, and is told what became of them. It belongs to one call at a time.
type Plan struct {
	Window int        // the model's context window, in tokens; 0: unknown, everything goes through
	Scale  float64    // tokens for each estimated one; 0: 1
	Extra  int        // what the prompt holds beside turns, estimated
	From   ledger.Seq // the first turn that isn't left out, beside system turns; 0: none is. The Transform moves it
	Skip   ledger.Seq // of the exchange that is going on, what follows the question and comes before this is left out

	Raw      int  // the prompt as it was shown, estimated without Scale; 0: nothing was shown yet
	Fixed    int  // of that, system turns and Extra
	Question int  // of that, the newest user turn
	Left     bool // turns were left out
	More     bool // more can be left out
	Bare     bool // the prompt went out without what Extra counts: its size teaches nothing
}

// Room is how many tokens a prompt should have: the rest of the window is left for the answer.
func (p *Plan) Room() int { return p.Window - p.Window/answerShare }

// Full is how far a conversation may grow before something has to be left out, and Most how much a question may be, with what is always
// there, to be asked at all; both in tokens.
func (p *Plan) Full() (full, most int) {
	return p.Window - p.Window/fullShare, p.Window - p.Window/leastShare
}

// Shares of the window that are left for the answer: a quarter, as a rule. A conversation may grow into that until an eighth is left,
// so that there is time to summarise it before something must be left out; a question for which less than a sixteenth would be left
// isn't asked.
const (
	answerShare = 4
	fullShare   = 8
	leastShare  = 16
)

// Tokens scales an estimate.
func (p *Plan) Tokens(raw int) int {
	if p.Scale <= 0 {
		return raw
	}
	return int(math.Ceil(float64(raw) * p.Scale))
}

type planKey struct{}

// WithPlan has the Budget in what runs under the context keep to a Plan.
func WithPlan(ctx context.Context, p *Plan) context.Context {
	return context.WithValue(ctx, planKey{}, p)
}

// Bare notes on the Plan in the context, if any, that the call under way leaves out what its Extra counts.
func Bare(ctx context.Context) {
	if p := planFrom(ctx); p != nil {
		p.Bare = p.Extra > 0
	}
}

func planFrom(ctx context.Context) *Plan {
	p, _ := ctx.Value(planKey{}).(*Plan)
	return p
}

// TooLargeError says that a question is more than the model can read, whatever is left out beside it.
type TooLargeError struct {
	Tokens int // the question's
	Room   int // for a question here
}

// Error names both.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("budget: a question of about %d tokens, where there is room for %d", e.Tokens, e.Room)
}
