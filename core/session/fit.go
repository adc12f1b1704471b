package session

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/transform/budget"
	"orebot/core/words"
)

// Fit is how the prompts of a conversation fit the context window of its model. It is kept with the thread, so that the prompts of
// the next life begin as those of this one.
type Fit struct {
	Model  string     `json:"m,omitempty"`
	Scale  float64    `json:"x,omitempty"`    // tokens that the server counts for each estimated one; 0: not known yet
	Window int        `json:"w,omitempty"`    // where the server has cut a prompt: what it seems to read; 0: it never did
	Fixed  int        `json:"f,omitempty"`    // what prompts hold beside the path, estimated
	From   ledger.Seq `json:"from,omitempty"` // the first turn that fitted the last prompt; 0: all did
	Told   bool       `json:"told,omitempty"` // the chat knows that not everything fits
	Cut    bool       `json:"cut,omitempty"`  // a server has cut a prompt
	Known  bool       `json:"cutk,omitempty"` // the chat knows that
	Lost   bool       `json:"lost,omitempty"` // something isn't in the prompts any more and stands in no summary
	Admit  bool       `json:"adm,omitempty"`  // the chat knows that
}

// promptCount is the prompt that a server has counted last.
type promptCount struct {
	model       string
	from, lead  ledger.Seq
	fixed, raw  int // estimated
	tokens      int // counted
	withPicture bool
}

// fit returns what is known of the conversation with its present model.
func (s *Stream) fit() Fit {
	fit := s.live.state.Fit
	if fit.Model != s.model() {
		fit.Model, fit.Scale, fit.Window = s.model(), 0, 0
	}
	if fit.Scale == 0 {
		fit.Scale = s.m.meter.Scale(fit.Model)
	}
	return fit
}

// plan says what the next prompt may hold, but for the window, which Manager.window tells.
func (s *Stream) plan() *budget.Plan {
	fit := s.fit()
	return &budget.Plan{Window: fit.Window, Scale: fit.Scale, From: fit.From,
		Extra: budget.EstimateTools(provider.Apply(s.m.cfg.Invoke...).Tools)}
}

// window returns how many tokens the model of a Spec reads here: no more than it says it can. It may ask the server.
func (m *Manager) window(ctx context.Context, spec models.Spec) int {
	spec = spec.Or(m.cfg.Spec)
	n := spec.NumCtx
	if m.cfg.ContextOf == nil {
		return n
	}
	if most := m.cfg.ContextOf(ctx, spec.Model); most > 0 && (n == 0 || most < n) {
		return most
	}
	return n
}

// planned gives a plan its window and returns the context and the Spec of a call that keeps to it.
func (m *Manager) planned(ctx context.Context, p *budget.Plan, spec models.Spec) (context.Context, models.Spec) {
	spec.NumCtx = m.window(ctx, spec)
	if p.Window == 0 || spec.NumCtx > 0 && spec.NumCtx < p.Window {
		p.Window = spec.NumCtx
	}
	return budget.WithPlan(ctx, p), spec
}

// measure learns from what the server has counted for a turn's prompt.
func (s *Stream) measure(j *job, t ledger.Turn) {
	if j == nil || j.plan == nil || j.plan.Raw == 0 {
		return
	}
	p, fit := j.plan, s.fit()
	fit.From, s.window = p.From, p.Window
	if p.Bare {
		j.cut.Store(nil)
		s.live.state.Fit, s.counts = fit, promptCount{}
		return
	}
	path := s.live.turns()
	now := promptCount{model: fit.Model, from: p.From + p.Skip, fixed: p.Fixed, raw: p.Raw, withPicture: hasPicture(path)}
	fit.Fixed = p.Fixed
	if len(path) > 0 && path[0].Covers != 0 {
		now.lead = path[0].ID.Seq
		fit.Fixed -= budget.Estimate(path[0])
	}
	for _, a := range t.Artifacts {
		if u, ok := a.(artifact.Usage); ok && u.PromptTokens > 0 {
			now.tokens = u.PromptTokens
		}
	}
	switch cut := j.cut.Swap(nil); {
	case s.counts.cutBefore(now, p):
		s.log(j).Warn("the model server cut the prompt", observe.KeyModel, fit.Model, "expected", p.Tokens(p.Raw), "counted", now.tokens)
		fit = fit.narrowed(p, now.tokens)
	case cut != nil: // by its bytes alone, which may mislead: no more than half is given up at once
		fit = fit.narrowed(p, max(cut.Tokens, p.Window/2))
	case now.tokens == 0, s.counts.odd(now):
	default:
		fit.Scale = budget.Learn(fit.Scale, p.Raw, now.tokens)
		s.m.meter.Learn(fit.Model, p.Raw, now.tokens)
		s.counts = now
	}
	s.live.state.Fit = fit
}

// narrowed is the Fit after a server has read only so many tokens of a prompt. A prompt that filled the window was estimated too low;
// else the window is smaller than it was said to be.
func (fit Fit) narrowed(p *budget.Plan, tokens int) Fit {
	fit.Cut = true
	if p.Window > 0 && tokens >= p.Window {
		fit.Scale = budget.Refused(fit.Scale, p.Raw, p.Window)
	} else {
		fit.Window = max(tokens, leastCut)
	}
	return fit
}

func hasPicture(path []ledger.Turn) bool {
	for _, t := range path {
		for _, a := range t.Artifacts {
			if a.Kind() == artifact.KindImage {
				return true
			}
		}
	}
	return false
}

// leastCut is the smallest count that can be that of a prompt which a server has cut: none has so small a window.
const leastCut = 512

// cutBefore reports whether a server has left out part of a prompt that goes on where the one before ended: then it counts about as
// much as before, but less than half of what was added; what a dense text has taught about the whole says nothing of a few words. One that is as long as the window to the token has lost its middle.
func (before promptCount) cutBefore(now promptCount, p *budget.Plan) bool {
	switch {
	case now.tokens < leastCut:
		return false
	case now.tokens == p.Window:
		return true
	}
	added := now.raw - before.raw
	return before.goesOn(now) && now.tokens+budget.TurnTokens < before.tokens+min(added, p.Tokens(added))/2
}

// odd reports whether a count is none of the whole prompt: a server that leaves out what it has in its cache counts far less than
// before.
func (before promptCount) odd(now promptCount) bool {
	return before.goesOn(now) && now.tokens < before.tokens*4/5
}

// goesOn reports whether a prompt is the one before with something added. With pictures it can't be told: a model that doesn't see is
// shown none.
func (before promptCount) goesOn(now promptCount) bool {
	return before.tokens > 0 && before.model == now.model && before.from == now.from && before.lead == now.lead &&
		before.fixed == now.fixed && now.raw >= before.raw && !now.withPicture
}

// Lines about what doesn't fit, as the chat reads them.
const (
	noteSummary = "Older messages no longer fit; I keep a summary."
	noteCut     = "Older messages no longer fit."
	noteServer  = "The model server read only a part of this conversation; I send it less from now on."
)

// tellFit has the chat told, once in a conversation each, that a server has cut a prompt, that not everything of the conversation is in
// the prompts any more, and, should that come later, that some of it stands in no summary either, as what tools said first in a turn whose
// own results are too many.
func (s *Stream) tellFit(j *job) {
	fit := &s.live.state.Fit
	if fit.Cut && !fit.Known {
		j.tellBeside(noteServer)
		fit.Known = true
	}
	path := s.live.turns()
	summary := len(path) > 0 && path[0].Covers != 0
	lost := fit.Lost || j.plan != nil && j.plan.Skip != 0
	switch {
	case lost && !fit.Admit, !fit.Told && !summary && j.plan != nil && j.plan.Left:
		j.tellBeside(noteCut)
		fit.Told, fit.Admit = true, true
	case !fit.Told && summary && j.plan != nil:
		j.tellBeside(noteSummary)
		fit.Told = true
	}
}

// squeeze lets less of the history through, where there is a history and the window is known: the server has refused a prompt that
// the estimate let through.
func (s *Stream) squeeze(j *job) bool {
	p := j.plan
	if p == nil || p.Window == 0 || p.Raw == 0 {
		return false
	}
	fit := s.fit()
	fit.From = p.From
	less := true
	switch scale := budget.Refused(fit.Scale, p.Raw, p.Window); {
	case explains(scale, p):
		fit.Scale = scale
	case !j.doubted:
		j.doubted = true
		return true
	case !p.More: // a smaller window changes nothing
		return false
	default:
		fit.Window = max(p.Tokens(p.Raw)*3/4, leastCut)
		less = fit.Window < p.Window
	}
	s.live.state.Fit, s.counts = fit, promptCount{}
	return p.More && less
}

// explains reports whether a prompt is beyond the window at a scale. One that isn't at any is refused by mistake, or the window is smaller
// than it was said to be: the second refusal in a row tells, since a conversation that was cut stays cut.
func explains(scale float64, p *budget.Plan) bool { return float64(p.Raw)*scale > float64(p.Window) }

// tooLong says that a question is more than the model reads; empty where it isn't the question that is.
func (s *Stream) tooLong(j *job, err error) string {
	var large *budget.TooLargeError
	if (errors.As(err, &large) || provider.KindOf(err) == provider.KindTooLong) && s.tooled(j) {
		return fmt.Sprintf("What my tools brought is more than `%s` can read at once. Please ask for less at once.", s.model())
	}
	if errors.As(err, &large) {
		return sizes(large.Tokens, s.model(), large.Room)
	}
	p := j.plan
	if provider.KindOf(err) != provider.KindTooLong || p == nil || p.Window == 0 || 2*(p.Fixed+p.Question) < p.Raw ||
		!explains(budget.Refused(p.Scale, p.Raw, p.Window), p) {
		return ""
	}
	room := max(p.Room()-p.Tokens(p.Fixed), 0)
	return sizes(max(p.Tokens(p.Question), p.Window), s.model(), room)
}

// tooled reports whether tools have brought something for a job's question: the question by itself has been read.
func (s *Stream) tooled(j *job) bool {
	path := s.live.turns()
	for i := len(path) - 1; i >= 0 && j.turn != 0 && path[i].ID.Seq > j.turn; i-- {
		if path[i].Role == ledger.RoleTool {
			return true
		}
	}
	return false
}

func sizes(tokens int, model string, room int) string {
	return fmt.Sprintf("About %s tokens; `%s` takes about %s here.", words.Estimate(tokens), model, words.Estimate(room))
}
