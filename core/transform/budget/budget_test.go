package budget_test

import (
	"errors"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/transform/budget"
)

// turns are n turns of so many bytes, by a person and the model in turn.
func turns(n, bytes int) []ledger.Turn {
	out := make([]ledger.Turn, n)
	for i := range out {
		role := ledger.RoleUser
		if i%2 == 1 {
			role = ledger.RoleAssistant
		}
		out[i] = ledger.Turn{ID: ledger.TurnID{Seq: ledger.Seq(i + 1)}, Role: role,
			Artifacts: []artifact.Artifact{artifact.Text{Content: strings.Repeat("x", bytes)}}}
	}
	return out
}

// window is the one whose room is so many tokens.
func window(room int) int { return room * 4 / 3 }

func view(t *testing.T, p *budget.Plan, all []ledger.Turn) []ledger.Turn {
	t.Helper()
	st, err := budget.Budget{}.Transform(budget.WithPlan(t.Context(), p), ledger.NewView(nil, all))
	if err != nil {
		t.Fatal(err)
	}
	return st.Turns()
}

func TestEverythingStaysWhileItFits(t *testing.T) {
	p := &budget.Plan{Window: window(1000)}
	if got := view(t, p, turns(10, 3*92)); len(got) != 10 || p.Left || p.From != 0 || p.Raw != 1000 || p.Question != 100 {
		t.Errorf("%d turns of 100 tokens left of 10, want all; %+v", len(got), p)
	}
	if got := view(t, &budget.Plan{}, turns(100, 3000)); len(got) != 100 {
		t.Errorf("%d turns left of 100 in an unknown window", len(got))
	}
	st := ledger.NewView(nil, turns(100, 3000))
	if got, err := (budget.Budget{}).Transform(t.Context(), st); err != nil || got != st {
		t.Errorf("without a plan: %v, %v", got, err)
	}
}

func TestOldestGoFirstAndAQuestionLeads(t *testing.T) {
	p := &budget.Plan{Window: window(1000)}
	for n := 1; n < 60; n++ {
		got := view(t, p, turns(n, 3*92))
		if last := got[len(got)-1].ID.Seq; last != ledger.Seq(n) {
			t.Fatalf("of %d turns the newest kept is %d", n, last)
		}
		if len(got)*100 > 1166 {
			t.Errorf("of %d turns %d stay, beyond the budget", n, len(got))
		}
		if got[0].Role != ledger.RoleUser || p.Left != (len(got) < n) || p.Left && p.From != got[0].ID.Seq {
			t.Errorf("of %d turns the first kept is %d by %s; %+v", n, got[0].ID.Seq, got[0].Role, p)
		}
	}
}

// System turns stay, wherever the conversation has come to, and are counted.
func TestSystemTurnsStay(t *testing.T) {
	p := &budget.Plan{Window: window(1000), Extra: 100}
	system := ledger.Turn{Role: ledger.RoleSystem, Artifacts: []artifact.Artifact{artifact.Text{Content: strings.Repeat("s", 3*92)}}}
	summary := system
	summary.ID.Seq, summary.Covers = 40, 3
	all := append([]ledger.Turn{system, summary}, turns(30, 3*92)...)
	got := view(t, p, all)
	if got[0].Role != ledger.RoleSystem || got[1].Covers != 3 || got[2].Role != ledger.RoleUser || len(got) > 9 || p.Fixed != 300 {
		t.Errorf("%d turns, the first by %s; %+v", len(got), got[0].Role, p)
	}
}

// The cut must move seldom: each move costs the server its prefix cache. Nor does what is learned move it.
func TestTheCutMovesSeldom(t *testing.T) {
	p := &budget.Plan{Window: window(2000)}
	moves, last := 0, ledger.Seq(1)
	for n := 1; n <= 100; n++ {
		p.Scale = 1 + float64(n%5)/50
		if first := view(t, p, turns(n, 3*92))[0].ID.Seq; first != last {
			moves, last = moves+1, first
		}
	}
	if moves > 25 || moves == 0 {
		t.Errorf("the first turn of the prompt changed %d times in 100 turns", moves)
	}
}

// After an undo, or a summary, the cut's turn isn't there any more; and with a wider window what was left out comes back.
func TestWhatFitsAgainComesBack(t *testing.T) {
	p := &budget.Plan{Window: window(1000)}
	view(t, p, turns(30, 3*92))
	if p.From < 10 {
		t.Fatalf("cut at %d", p.From)
	}
	if got := view(t, p, turns(9, 3*92)); len(got) != 9 || p.From != 0 {
		t.Errorf("after going back %d turns of 9 are shown", len(got))
	}
	view(t, p, turns(30, 3*92))
	p.Window = window(8000)
	if got := view(t, p, turns(31, 3*92)); len(got) != 31 {
		t.Errorf("in a wider window %d turns of 31 are shown", len(got))
	}
}

// A question whose tools say more than fits stays in sight, and every result that is shown has its call.
func TestAnExchangeBeyondTheBudgetKeepsItsQuestion(t *testing.T) {
	for rounds := 1; rounds < 12; rounds++ {
		for _, results := range []int{1, 3} {
			all := exchange(rounds, results)
			p := &budget.Plan{Window: window(1000)}
			got := view(t, p, all)
			if got[0].Role != ledger.RoleUser || got[0].ID.Seq != 3 && len(all) > len(got) {
				t.Fatalf("%d rounds: the view begins with turn %d of %s", rounds, got[0].ID.Seq, got[0].Role)
			}
			if last := got[len(got)-1].ID.Seq; last != ledger.Seq(len(all)) {
				t.Errorf("%d rounds: the newest kept is %d of %d", rounds, last, len(all))
			}
			if len(got) > 1 && got[1].Role == ledger.RoleTool {
				t.Errorf("%d rounds: turn %d is a result without its call", rounds, got[1].ID.Seq)
			}
			if again := view(t, p, all); len(again) != len(got) {
				t.Errorf("%d rounds: %d turns, then %d", rounds, len(got), len(again))
			}
		}
	}
}

// exchange is an answered question, and then one whose tools have been called for some rounds, each result 100 tokens.
func exchange(rounds, results int) []ledger.Turn {
	out := turns(3, 3*92)
	add := func(role ledger.Role, a artifact.Artifact) {
		out = append(out, ledger.Turn{ID: ledger.TurnID{Seq: ledger.Seq(len(out) + 1)}, Role: role, Artifacts: []artifact.Artifact{a}})
	}
	for range rounds {
		add(ledger.RoleAssistant, artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"})
		for range results {
			add(ledger.RoleTool, artifact.ToolResult{ToolCallID: "c", Content: strings.Repeat("x", 3*92)})
		}
	}
	return out
}

// A question that leaves no room is refused with its size; whether it fits is the server's to say as long as that is in doubt.
func TestAQuestionBeyondTheWindowIsRefused(t *testing.T) {
	for _, tt := range []struct {
		bytes, images int
		scale         float64
		want          int // tokens; 0: it goes through
	}{
		{3 * 1000, 0, 0, 0},
		{3 * 1200, 0, 1, 0},
		{3 * 1300, 0, 1, 1308},
		{3 * 700, 0, 2, 1416},
		{30, 2, 1, 2018},
		{3 * 5000, 0, 0.2, 0},
	} {
		question := turns(1, tt.bytes)
		for range tt.images {
			question[0].Artifacts = append(question[0].Artifacts, artifact.Image{URL: "blob:x"})
		}
		p := &budget.Plan{Window: window(1000), Scale: tt.scale}
		_, err := budget.Budget{}.Transform(budget.WithPlan(t.Context(), p), ledger.NewView(nil, question))
		var large *budget.TooLargeError
		if got := errors.As(err, &large); got != (tt.want > 0) || got && (large.Tokens != tt.want || large.Room != 1000) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestScalesAreLearned(t *testing.T) {
	m := budget.NewMeter()
	scale := m.Scale("m")
	for range 20 {
		m.Learn("m", 2000, 6000)
		scale = budget.Learn(scale, 2000, 6000)
	}
	if got := m.Scale("m"); got < 2.8 || got > 3 || scale < 2.95 || scale > 3 {
		t.Errorf("model %.2f, conversation %.2f after 20 prompts of 3", got, scale)
	}
	if got := budget.Learn(1, 20, 2000); got > 5 {
		t.Errorf("a short prompt with much around it makes the scale %.1f", got)
	}
	if got := budget.Refused(1, 2000, 4096); got < 2 {
		t.Errorf("after a refusal: %.2f", got)
	}
	for _, bad := range [][2]int{{0, 5}, {5, 0}, {-1, -1}} {
		if got := budget.Learn(1.5, bad[0], bad[1]); got != 1.5 {
			t.Errorf("%v: %.2f", bad, got)
		}
	}
	for range 1000 {
		scale = budget.Learn(scale, 100000, 1)
	}
	if scale < 0.1 {
		t.Errorf("scale %.3f", scale)
	}
}

func TestAMeterIsBounded(t *testing.T) {
	m := budget.NewMeter()
	for i := range 500 {
		m.Learn(strings.Repeat("m", i+1), 5000, 10000)
	}
	known := 0
	for i := range 500 {
		if m.Scale(strings.Repeat("m", i+1)) != 1 {
			known++
		}
	}
	if known == 0 || known > 64 {
		t.Errorf("%d models are remembered", known)
	}
}
