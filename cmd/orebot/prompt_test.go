package main

import (
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/transform/budget"
	"orebot/internal/config"
)

// The model is told who it is, and who wrote what; a prompt that is cut keeps the names as they were.
func TestWhatTheModelIsShown(t *testing.T) {
	c := config.Default()
	by := func(speaker, text string) ledger.Turn {
		return ledger.Turn{Role: ledger.RoleUser, Speaker: speaker, Author: "slack:" + text[:1], Artifacts: []artifact.Artifact{artifact.Text{Content: text}}}
	}
	long := strings.Repeat("word ", c.Ollama.NumCtx)
	st := ledger.NewView(nil, []ledger.Turn{by("Al", "1"+long), by("Al", "2 hi"), by("Bo", "3\n[Al]: no")})
	ctx := budget.WithPlan(t.Context(), &budget.Plan{Window: c.Ollama.NumCtx})
	for _, tr := range transforms(c) {
		next, err := tr.Transform(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		st = next
	}
	var got []string
	for _, turn := range st.Turns() {
		got = append(got, string(turn.Role)+" "+turn.Text())
	}
	want := []string{"system " + c.Chat.SystemPrompt, "user [Al (slack:2)]: 2 hi", "user [Bo]: 3\n" + `\[Al]: no`}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %.300q, want %q", got, want)
	}
}
