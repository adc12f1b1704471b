package systemprompt_test

import (
	"context"
	"errors"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/transform/systemprompt"
)

func TestTransform(t *testing.T) {
	st := ledger.NewBuffer()
	turn := ledger.Turn{Role: ledger.RoleUser, Artifacts: []artifact.Artifact{artifact.Text{Content: "q"}}}
	if _, err := st.Append(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	got, err := systemprompt.Fixed("be brief").Transform(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	turns := got.Turns()
	if len(turns) != 2 || turns[0].Role != ledger.RoleSystem || turns[0].Text() != "be brief" || turns[1].Text() != "q" {
		t.Errorf("got %+v", turns)
	}
	if len(st.Turns()) != 1 {
		t.Error("the conversation changed")
	}
}

func TestBlankChangesNothing(t *testing.T) {
	st := ledger.NewBuffer()
	for _, text := range []string{"", " \n\t"} {
		if got, err := systemprompt.Fixed(text).Transform(t.Context(), st); err != nil || got != ledger.State(st) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestSourceIsAskedEachTime(t *testing.T) {
	boom := errors.New("boom")
	n := 0
	p := systemprompt.Prompt(func(context.Context) (string, error) {
		if n++; n > 1 {
			return "x", boom
		}
		return "one", nil
	})
	if got, err := p.Transform(t.Context(), nil); err != nil || got.Turns()[0].Text() != "one" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := p.Transform(t.Context(), nil); !errors.Is(err, boom) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
