package cognitive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
)

var (
	_ cognitive.Pattern  = cognitive.SingleShot{}
	_ cognitive.Pattern  = cognitive.ReAct{}
	_ cognitive.Pattern  = cognitive.Verify{}
	_ cognitive.Promoter = (*ledger.Buffer)(nil)
)

// answers is a Provider that gives one prepared answer after the other.
type answers struct {
	list [][]artifact.Artifact
	saw  []string
	had  []int // tools offered with each call
	err  error // after the last
}

func (a *answers) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	a.saw = append(a.saw, show(st))
	a.had = append(a.had, len(provider.Apply(opts...).Tools))
	if len(a.list) == 0 {
		return a.err
	}
	for _, art := range a.list[0] {
		select {
		case ch <- art:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.list = a.list[1:]
	return nil
}

func show(st ledger.State) string {
	var words []string
	for _, t := range st.Turns() {
		w := string(t.Role) + ":" + t.Text()
		if t.Draft {
			w += "?"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func says(s string) []artifact.Artifact { return []artifact.Artifact{artifact.Text{Content: s}} }

func calls(ids ...string) (arts []artifact.Artifact) {
	for _, id := range ids {
		arts = append(arts, artifact.ToolCall{ID: id, Name: "tool"})
	}
	return arts
}

// tools is a Handler that answers each call, except those with the id "lost".
type tools struct{}

func (tools) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	c, ok := a.(artifact.ToolCall)
	if !ok || c.ID == "lost" {
		return nil
	}
	e.Emit(ctx, loop.TurnCompleteEvent{Turn: ledger.Turn{
		Role: ledger.RoleTool, Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: c.ID}, artifact.Text{Content: c.ID}},
	}})
	return nil
}

func asked(t *testing.T) *ledger.Buffer {
	t.Helper()
	st := ledger.NewBuffer()
	if _, err := st.Append(t.Context(), ledger.Turn{Role: ledger.RoleUser, Artifacts: says("q")}); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestSingleShot(t *testing.T) {
	st := asked(t)
	p := &answers{list: [][]artifact.Artifact{calls("1"), says("never")}}
	got, err := cognitive.SingleShot{}.Run(t.Context(), loop.New(loop.WithState(st)), st, models.Spec{}, p)
	if err != nil || show(got) != "user:q assistant:" {
		t.Errorf("got %s, %v", show(got), err)
	}
}

func TestReAct(t *testing.T) {
	many := make([][]artifact.Artifact, 40)
	for i := range many {
		many[i] = calls("1")
	}
	tests := []struct {
		name   string
		rounds int
		list   [][]artifact.Artifact
		want   string
		err    string
	}{
		{"no tool", 0, [][]artifact.Artifact{says("a")}, "user:q assistant:a", ""},
		{"one call", 0, [][]artifact.Artifact{calls("1"), says("a")}, "user:q assistant: tool:1 assistant:a", ""},
		{"two at once, then one", 0, [][]artifact.Artifact{calls("1", "2"), calls("3"), says("a")}, "user:q assistant: tool:1 tool:2 assistant: tool:3 assistant:a", ""},
		{"calls without ids", 0, [][]artifact.Artifact{calls("", ""), says("a")}, "user:q assistant: tool: tool: assistant:a", ""},
		{"just in time", 2, [][]artifact.Artifact{calls("1"), says("a")}, "user:q assistant: tool:1 assistant:a", ""},
		{"limit", 2, many, "user:q" + strings.Repeat(" assistant: tool:1", 4), "*cognitive.LimitError 2"},
		{"told of the limit", 2, [][]artifact.Artifact{calls("1"), calls("2"), calls("3"), says("a")}, "user:q assistant: tool:1 assistant: tool:2 assistant: tool:3 assistant:a", ""},
		{"default limit", 0, many, "user:q" + strings.Repeat(" assistant: tool:1", cognitive.DefaultRounds+2), "*cognitive.LimitError 16"},
		{"no result", 0, [][]artifact.Artifact{calls("1", "lost"), says("never")}, "user:q assistant: tool:1", "*cognitive.UnansweredError lost"},
		{"a result short", 0, [][]artifact.Artifact{calls("lost", "lost"), says("never")}, "user:q assistant:", "*cognitive.UnansweredError lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := asked(t)
			step := loop.New(loop.WithState(st), loop.WithHandlers(tools{}))
			got, err := cognitive.ReAct{MaxRounds: tt.rounds}.Run(t.Context(), step, st, models.Spec{}, &answers{list: tt.list})
			if show(got) != tt.want {
				t.Errorf("got %s", show(got))
			}
			if brief(err) != tt.err {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestReActOffersToolsUntilTheLimit: the tools stand in each prompt, the one that tells of the limit included, so that it begins as
// those before it; only a model that still calls some is asked without. What a run before this one used up counts.
func TestReActOffersToolsUntilTheLimit(t *testing.T) {
	offer := provider.WithTools(provider.Tool{Name: "tool"})
	st := asked(t)
	step := loop.New(loop.WithState(st), loop.WithHandlers(tools{}), loop.WithInvokeOptions(offer))
	broken := &answers{list: [][]artifact.Artifact{calls("1")}, err: &provider.Error{Kind: provider.KindBusy}}
	if _, err := (cognitive.ReAct{MaxRounds: 2}).Run(t.Context(), step, st, models.Spec{}, broken); provider.KindOf(err) != provider.KindBusy {
		t.Fatal(err)
	}
	p := &answers{list: [][]artifact.Artifact{calls("2"), calls("3"), says("a")}}
	if _, err := (cognitive.ReAct{MaxRounds: 2}).Run(t.Context(), step, st, models.Spec{}, p); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(broken.had, p.had); got != "[1 1] [1 1 0]" {
		t.Errorf("tools offered: %s", got)
	}
}

// brief prints a typed error with what it holds.
func brief(err error) string {
	switch e := err.(type) {
	case nil:
		return ""
	case *cognitive.LimitError:
		return fmt.Sprintf("%T %d", e, e.Rounds)
	case *cognitive.UnansweredError:
		return fmt.Sprintf("%T %s", e, e.Calls[0].ID)
	case *cognitive.RejectedError:
		return fmt.Sprintf("%T %d %s", e, e.Tries, e.Complaint)
	}
	return err.Error()
}

func TestReActStopsAtAFailure(t *testing.T) {
	st := asked(t)
	boom := &provider.Error{Kind: provider.KindBusy}
	step := loop.New(loop.WithState(st), loop.WithHandlers(tools{}))
	p := &answers{list: [][]artifact.Artifact{calls("1")}, err: boom}
	got, err := cognitive.ReAct{}.Run(t.Context(), step, st, models.Spec{}, p)
	if provider.KindOf(err) != provider.KindBusy || show(got) != "user:q assistant: tool:1" {
		t.Errorf("got %s, %v", show(got), err)
	}
}

// TestReActThatGetsNothingAtTheLimit: a model that says nothing where it is offered no tools any more has come to no answer; before, it is
// the provider's failure.
func TestReActThatGetsNothingAtTheLimit(t *testing.T) {
	for n, want := range map[int]string{3: "*cognitive.LimitError 2", 1: ""} {
		st := asked(t)
		step := loop.New(loop.WithState(st), loop.WithHandlers(tools{}))
		var list [][]artifact.Artifact
		for range n {
			list = append(list, calls("1"))
		}
		empty := &provider.Error{Kind: provider.KindEmpty}
		_, err := cognitive.ReAct{MaxRounds: 2}.Run(t.Context(), step, st, models.Spec{}, &answers{list: list, err: empty})
		if want != "" && brief(err) != want || want == "" && provider.KindOf(err) != provider.KindEmpty {
			t.Errorf("after %d calls: %v", n, err)
		}
	}
}

// Without a bound state nothing keeps the result of a tool: that ends the run
// instead of asking for ever.
func TestReActWithoutABoundState(t *testing.T) {
	p := &answers{list: [][]artifact.Artifact{calls("1"), says("never")}}
	_, err := cognitive.ReAct{}.Run(t.Context(), loop.New(loop.WithHandlers(tools{})), asked(t), models.Spec{}, p)
	if brief(err) != "*cognitive.UnansweredError 1" {
		t.Errorf("got %v", err)
	}
	st, err := cognitive.ReAct{}.Run(t.Context(), loop.New(), nil, models.Spec{}, &answers{list: [][]artifact.Artifact{calls("1")}})
	if st != nil || err != nil {
		t.Errorf("without any state: %v, %v", st, err)
	}
}

func must(word string) cognitive.Check {
	return func(_ context.Context, t ledger.Turn) (string, error) {
		if strings.Contains(t.Text(), word) {
			return "", nil
		}
		return "say " + word, nil
	}
}

func TestVerify(t *testing.T) {
	broken := errors.New("broken check")
	tests := []struct {
		name   string
		verify cognitive.Verify
		list   [][]artifact.Artifact
		want   string
		err    string
	}{
		{"passes", cognitive.Verify{Check: must("a")}, [][]artifact.Artifact{says("a")}, "user:q assistant:a", ""},
		{"second try", cognitive.Verify{Check: must("a")}, [][]artifact.Artifact{says("b"), says("a")}, "user:q assistant:b? user:say a? assistant:a", ""},
		{"never", cognitive.Verify{Check: must("a"), MaxTries: 2}, [][]artifact.Artifact{says("b"), says("c"), says("a")}, "user:q assistant:b? user:say a? assistant:c?", "*cognitive.RejectedError 2 say a"},
		{"never, by default", cognitive.Verify{Check: must("a")}, [][]artifact.Artifact{says("b"), says("b"), says("b"), says("a")}, "user:q assistant:b? user:say a? assistant:b? user:say a? assistant:b?", "*cognitive.RejectedError 3 say a"},
		{"with tools", cognitive.Verify{Check: must("a"), Inner: cognitive.ReAct{}}, [][]artifact.Artifact{calls("1"), says("a")}, "user:q assistant:? tool:1? assistant:a", ""},
		{"inner fails", cognitive.Verify{Check: must("a"), Inner: cognitive.ReAct{MaxRounds: 1}}, [][]artifact.Artifact{calls("1"), calls("1"), calls("1")}, "user:q" + strings.Repeat(" assistant:? tool:1?", 3), "*cognitive.LimitError 1"},
		{
			"the check breaks", cognitive.Verify{Check: func(context.Context, ledger.Turn) (string, error) { return "", broken }},
			[][]artifact.Artifact{says("a")}, "user:q assistant:a?", "cognitive: check 00000000000000000000000000000000.2: broken check",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := asked(t)
			step := loop.New(loop.WithState(st), loop.WithHandlers(tools{}))
			got, err := tt.verify.Run(t.Context(), step, st, models.Spec{}, &answers{list: tt.list})
			if show(got) != tt.want {
				t.Errorf("got %s", show(got))
			}
			if brief(err) != tt.err {
				t.Errorf("error %v", err)
			}
			for _, turn := range got.Turns() {
				if turn.Final() && !strings.Contains(turn.Text(), "a") {
					t.Errorf("%s is final", turn.ID)
				}
			}
		})
	}
}

func TestVerifyTellsTheModelInItsPlace(t *testing.T) {
	st := asked(t)
	p := &answers{list: [][]artifact.Artifact{says("b"), says("a")}}
	if _, err := (cognitive.Verify{Check: must("a")}).Run(t.Context(), loop.New(loop.WithState(st)), st, models.Spec{}, p); err != nil {
		t.Fatal(err)
	}
	if want := "user:q assistant:b? user:say a?"; p.saw[1] != want {
		t.Errorf("the model saw %s", p.saw[1])
	}
}

func TestVerifyNeedsAStateThatPromotes(t *testing.T) {
	check := must("a")
	_, err := cognitive.Verify{Check: check}.Run(t.Context(), loop.New(), ledger.NewView(nil, nil), models.Spec{}, &answers{list: [][]artifact.Artifact{says("a")}})
	if err == nil || !strings.Contains(err.Error(), "promote") {
		t.Errorf("got %v", err)
	}
	_, err = cognitive.Verify{Check: check}.Run(t.Context(), loop.New(), nil, models.Spec{}, &answers{list: [][]artifact.Artifact{says("a")}})
	if err == nil {
		t.Error("verified an answer that nobody kept")
	}
}

func TestVerifyStopsWhenTheComplaintCannotBeKept(t *testing.T) {
	full := errors.New("full")
	step := loop.New(loop.WithState(refuses{ledger.NewBuffer(), full}))
	_, err := cognitive.Verify{Check: must("a")}.Run(t.Context(), step, nil, models.Spec{}, &answers{list: [][]artifact.Artifact{says("b"), says("a")}})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// refuses is a State that takes no user turns.
type refuses struct {
	*ledger.Buffer
	err error
}

func (r refuses) Append(ctx context.Context, t ledger.Turn) (ledger.Turn, error) {
	if t.Role == ledger.RoleUser {
		return ledger.Turn{}, r.err
	}
	return r.Buffer.Append(ctx, t)
}

func TestErrorsNameWhatHappened(t *testing.T) {
	for want, err := range map[string]error{
		"cognitive: still calling tools after 3 rounds":                &cognitive.LimitError{Rounds: 3},
		`cognitive: 1 tool calls without a result, the first to "now"`: &cognitive.UnansweredError{Calls: []artifact.ToolCall{{Name: "now"}}},
		"cognitive: 2 answers, none passed the check":                  &cognitive.RejectedError{Tries: 2, Complaint: "secret"},
	} {
		if err.Error() != want {
			t.Errorf("got %q", err)
		}
	}
}
