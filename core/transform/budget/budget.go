package budget

import (
	"context"
	"slices"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// Budget is a loop.Transform that keeps prompts to the Plan in its context; without one, everything goes through. It belongs behind
// what adds to the prompt, so that all of it is counted.
type Budget struct{}

var _ loop.Transform = Budget{}

// Transform returns a view of what fits. A question that doesn't fit by itself is a *TooLargeError.
func (Budget) Transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	p := planFrom(ctx)
	if p == nil || st == nil {
		return st, nil
	}
	f := newFitting(p, st.Turns())
	if p.Window > 0 {
		if err := f.check(); err != nil {
			return nil, err
		}
		f.fit()
	}
	f.report()
	if !p.Left {
		return st, nil
	}
	return ledger.NewView(st, f.shown()), nil
}

// fitting is one prompt on its way through the Budget.
type fitting struct {
	p     *Plan
	lead  []ledger.Turn // system turns
	body  []ledger.Turn // the others
	costs []int         // of body, estimated
	sums  []int         // of the costs before each of body, and of all
	fixed int           // estimated, of lead and of what isn't a turn
	start int           // the first of body that is shown
	asked int           // the newest question in body; -1 where there is none
	skip  int           // the first of body that is shown behind the question
}

func newFitting(p *Plan, turns []ledger.Turn) *fitting {
	f := &fitting{p: p, fixed: p.Extra}
	f.body, f.costs = make([]ledger.Turn, 0, len(turns)), make([]int, 0, len(turns))
	f.sums = make([]int, 1, len(turns)+1)
	for _, t := range turns {
		if t.Role == ledger.RoleSystem {
			f.lead = append(f.lead, t)
			f.fixed += Estimate(t)
			continue
		}
		cost := Estimate(t)
		f.body, f.costs, f.sums = append(f.body, t), append(f.costs, cost), append(f.sums, f.sums[len(f.body)]+cost)
	}
	f.asked = -1
	for i, t := range f.body {
		if t.Role == ledger.RoleUser {
			f.asked = i
		}
	}
	f.skip = f.asked + 1
	f.start = max(f.at(p.From), 0)
	if i := f.at(p.Skip); i > f.skip {
		f.skip = i
	}
	return f
}

// at finds a turn in body; -1 where it isn't there, as after a summary or an undo.
func (f *fitting) at(seq ledger.Seq) int {
	if seq == 0 {
		return -1
	}
	return slices.IndexFunc(f.body, func(t ledger.Turn) bool { return t.ID.Seq == seq })
}

// raw is what would be shown, estimated, and tokens that scaled.
func (f *fitting) raw() int {
	n := f.fixed + f.sums[len(f.body)] - f.sums[max(f.skip, f.start)]
	if f.start <= f.asked {
		n += f.sums[f.asked+1] - f.sums[f.start]
	}
	return n
}

func (f *fitting) tokens() int { return f.p.Tokens(f.raw()) }

func (f *fitting) shows(i int) bool {
	return i >= f.start && (i <= f.asked || i >= f.skip)
}

// check refuses a question that leaves no room for an answer.
func (f *fitting) check() error {
	if f.asked < 0 {
		return nil
	}
	all := f.p.Tokens(f.fixed + f.costs[f.asked])
	if _, most := f.p.Full(); all <= most {
		return nil
	}
	return &TooLargeError{Tokens: f.p.Tokens(f.costs[f.asked]), Room: max(f.p.Room()-f.p.Tokens(f.fixed), 0)}
}

// fit moves the cut where it has to. What was left out comes back only where everything takes no more than half of the room.
func (f *fitting) fit() {
	room := f.p.Room()
	if f.start > 0 {
		kept := f.start
		if f.start = 0; f.tokens() > room/2 {
			f.start = kept
		}
	}
	if full, _ := f.p.Full(); f.tokens() <= full {
		return
	}
	for f.start < f.asked && f.tokens() > room*3/4 {
		f.start = f.nextQuestion(f.start + 1)
	}
	for f.tokens() > room*3/4 && f.nextRound() < len(f.body) {
		f.skip = f.nextRound()
	}
}

// nextQuestion returns the first user turn from i on, which the newest question is at the latest.
func (f *fitting) nextQuestion(i int) int {
	for i < f.asked && f.body[i].Role != ledger.RoleUser {
		i++
	}
	return min(i, f.asked)
}

// nextRound returns where the round of tools begins that follows the first one shown; the end where there is none.
func (f *fitting) nextRound() int {
	for i := f.skip + 1; i < len(f.body); i++ {
		if f.body[i].Role == ledger.RoleAssistant {
			return i
		}
	}
	return len(f.body)
}

// report tells the Plan.
func (f *fitting) report() {
	p := f.p
	p.From, p.Skip, p.Left, p.Bare = 0, 0, f.start > 0, false
	if f.start > 0 && f.start < len(f.body) {
		p.From = f.body[f.start].ID.Seq
	}
	if f.skip > f.asked+1 {
		p.Skip, p.Left = f.body[f.skip].ID.Seq, true
	}
	p.Raw, p.Fixed, p.Question = f.raw(), f.fixed, 0
	if f.asked >= 0 {
		p.Question = f.costs[f.asked]
	}
	p.More = f.start < f.asked || f.nextRound() < len(f.body)
}

// shown returns the turns that fit.
func (f *fitting) shown() []ledger.Turn {
	out := slices.Clone(f.lead)
	for i, t := range f.body {
		if f.shows(i) {
			out = append(out, t)
		}
	}
	return out
}
