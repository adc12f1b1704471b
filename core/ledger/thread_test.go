package ledger_test

import (
	"fmt"
	"testing"

	"orebot/core/ledger"
)

func at(seq, parent ledger.Seq) ledger.Turn {
	return ledger.Turn{ID: ledger.TurnID{Seq: seq}, Parent: parent, Role: ledger.RoleUser}
}

func summary(seq, parent, covers ledger.Seq) ledger.Turn {
	t := at(seq, parent)
	t.Role, t.Covers, t.Artifacts = ledger.RoleSystem, covers, text("summary")
	return t
}

func emptied(t ledger.Turn) ledger.Turn {
	t.Artifacts = nil
	return t
}

func path(th *ledger.Thread) string {
	var seqs []ledger.Seq
	for _, t := range th.Path() {
		seqs = append(seqs, t.ID.Seq)
	}
	return fmt.Sprint(seqs)
}

func TestPath(t *testing.T) {
	tests := []struct {
		name  string
		turns []ledger.Turn
		tip   ledger.Seq // zero: the last
		want  string
	}{
		{"empty", nil, 0, "[]"},
		{"line", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2)}, 0, "[1 2 3]"},
		{"gaps of other records", []ledger.Turn{at(2, 0), at(5, 2), at(6, 5)}, 0, "[2 5 6]"},
		{"branch", []ledger.Turn{at(1, 0), at(2, 1), at(3, 1), at(4, 3)}, 0, "[1 3 4]"},
		{"the other branch", []ledger.Turn{at(1, 0), at(2, 1), at(3, 1), at(4, 3)}, 2, "[1 2]"},
		{"second root", []ledger.Turn{at(1, 0), at(2, 1), at(3, 0)}, 0, "[3]"},
		{"window begins later", []ledger.Turn{at(7, 6), at(8, 7)}, 0, "[7 8]"},
		{"parent before the window", []ledger.Turn{at(7, 6), at(8, 3)}, 0, "[8]"},
		{"summary first", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), at(4, 3), summary(5, 4, 2), at(6, 5)}, 0, "[5 3 4 6]"},
		{"summary is the tip", []ledger.Turn{at(1, 0), at(2, 1), summary(3, 2, 1)}, 0, "[3 2]"},
		{"summary of everything", []ledger.Turn{at(1, 0), at(2, 1), summary(3, 2, 2), at(4, 3)}, 0, "[3 4]"},
		{"newest summary counts", []ledger.Turn{at(1, 0), summary(2, 1, 1), at(3, 2), at(4, 3), summary(5, 4, 3), at(6, 5)}, 0, "[5 4 6]"},
		{"older summary inside", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), summary(4, 3, 1), at(5, 4), summary(6, 5, 2), at(7, 6)}, 0, "[6 3 5 7]"},
		{"asked again from before the summary", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), at(4, 3), summary(5, 4, 2)}, 3, "[5 3]"},
		{"a new branch from before the summary", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), summary(4, 3, 2), at(5, 2)}, 0, "[4 5]"},
		{"a branch that the summary doesn't cover", []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), summary(4, 3, 2), at(5, 1)}, 0, "[1 5]"},
		{"an emptied summary", []ledger.Turn{at(1, 0), at(2, 1), emptied(summary(3, 2, 1)), at(4, 3)}, 0, "[1 2 4]"},
		{"an older one behind an emptied one", []ledger.Turn{at(1, 0), at(2, 1), summary(3, 2, 1), at(4, 3), emptied(summary(5, 4, 2)), at(6, 5)},
			0, "[3 2 4 6]"},
		{"back before the summary", []ledger.Turn{at(1, 0), at(2, 1), summary(3, 2, 1), at(4, 3)}, 2, "[3 2]"},
		{"covered turn before the window", []ledger.Turn{at(7, 6), summary(8, 7, 3), at(9, 8)}, 0, "[8 7 9]"},
		{"covered turn on another branch", []ledger.Turn{at(1, 0), at(2, 1), at(3, 1), at(4, 3), summary(5, 4, 2), at(6, 5)}, 0, "[5 3 4 6]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th := ledger.NewThread(ledger.ThreadID{})
			for _, turn := range tt.turns {
				if err := th.Add(turn); err != nil {
					t.Fatal(err)
				}
				if th.Tip() != turn.ID.Seq || th.Last() != turn.ID.Seq {
					t.Errorf("tip %d, last %d after %d", th.Tip(), th.Last(), turn.ID.Seq)
				}
			}
			if tt.tip != 0 {
				if err := th.SetTip(tt.tip); err != nil {
					t.Fatal(err)
				}
			}
			if got := path(th); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAddRejects(t *testing.T) {
	base := func() *ledger.Thread {
		th := ledger.NewThread(ledger.ThreadID{})
		for _, turn := range []ledger.Turn{at(4, 2), at(6, 4)} {
			if err := th.Add(turn); err != nil {
				t.Fatal(err)
			}
		}
		return th
	}
	foreign := at(7, 6)
	foreign.ID.Thread = ledger.ThreadID{1}
	for name, turn := range map[string]ledger.Turn{
		"unstamped": at(0, 0), "again": at(6, 4), "backwards": at(5, 4), "own parent": at(7, 7),
		"parent ahead": at(7, 8), "unknown parent": at(7, 5), "covers itself": summary(7, 6, 7), "foreign": foreign,
	} {
		th := base()
		if err := th.Add(turn); err == nil {
			t.Errorf("%s: added", name)
		}
		if th.Tip() != 6 || th.Last() != 6 || th.Len() != 2 {
			t.Errorf("%s: the thread changed", name)
		}
	}
}

func TestTip(t *testing.T) {
	th := ledger.NewThread(ledger.ThreadID{1})
	if th.ID() != (ledger.ThreadID{1}) || th.SetTip(1) == nil {
		t.Error("a tip that isn't there")
	}
	turn := at(1, 0)
	turn.ID.Thread = th.ID()
	if err := th.Add(turn); err != nil {
		t.Fatal(err)
	}
	if err := th.SetTip(0); err != nil || path(th) != "[]" {
		t.Errorf("got %s, %v", path(th), err)
	}
	if got, ok := th.Turn(1); !ok || got.ID != turn.ID {
		t.Error("turn 1 is gone")
	}
}

func TestDropBefore(t *testing.T) {
	th := ledger.NewThread(ledger.ThreadID{})
	for _, turn := range []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), summary(4, 3, 2), at(5, 4)} {
		if err := th.Add(turn); err != nil {
			t.Fatal(err)
		}
	}
	before := path(th)
	th.DropBefore(3)
	if path(th) != before || th.Len() != 3 {
		t.Errorf("got %s with %d turns, want %s", path(th), th.Len(), before)
	}
	if err := th.Add(at(6, 2)); err != nil {
		t.Errorf("a parent before the window: %v", err)
	}
	th.DropBefore(100)
	if th.Len() != 0 || path(th) != "[]" {
		t.Errorf("%d turns left", th.Len())
	}
	if err := th.Add(at(7, 6)); err != nil {
		t.Errorf("add to an emptied window: %v", err)
	}
}

// What the window loses, a summary may stand for: it is kept beside the window, and goes with what it says.
func TestBase(t *testing.T) {
	th := ledger.NewThread(ledger.ThreadID{})
	for _, turn := range []ledger.Turn{at(1, 0), at(2, 1), at(3, 2), summary(4, 3, 2), at(5, 4), at(6, 5)} {
		if err := th.Add(turn); err != nil {
			t.Fatal(err)
		}
	}
	if got := th.Rebase(); got != 4 {
		t.Fatalf("base %d, want 4", got)
	}
	th.DropBefore(6)
	if got := path(th); got != "[4 6]" {
		t.Errorf("got %s", got)
	}
	base, ok := th.Base()
	again := ledger.NewThread(ledger.ThreadID{})
	again.SetBase(base)
	if err := again.Add(at(6, 5)); err != nil || !ok {
		t.Fatal(err)
	}
	if got := path(again); got != "[4 6]" {
		t.Errorf("loaded: %s", got)
	}
	if err := again.SetTip(0); err != nil || path(again) != "[]" {
		t.Errorf("an empty path: %s", path(again))
	}
	th.Amend(4, nil, nil)
	if got := path(th); got != "[6]" {
		t.Errorf("with an emptied base: %s", got)
	}
	if got := th.Rebase(); got != 0 {
		t.Errorf("base %d, want none", got)
	}
}

func TestAmendAndPromote(t *testing.T) {
	th := ledger.NewThread(ledger.ThreadID{})
	first := at(1, 0)
	first.Artifacts = text("before")
	draft := at(2, 1)
	draft.Role, draft.Draft = ledger.RoleAssistant, true
	for _, turn := range []ledger.Turn{first, draft} {
		if err := th.Add(turn); err != nil {
			t.Fatal(err)
		}
	}
	shown := th.Path()
	th.Amend(1, text("after"), []ledger.Part{{Text: 1}})
	th.SetEntries(1, []string{"a", "b"})
	th.Promote(2)
	th.SetEntries(9, nil)
	th.Amend(9, text("x"), nil) // outside the window: nothing
	th.Promote(9)
	if now := th.Path(); now[0].Text() != "after" || len(now[0].Entries) != 2 || now[0].Parts[0].Len() != 1 || !now[1].Final() || th.Len() != 2 {
		t.Errorf("path %+v", now)
	}
	if shown[0].Text() != "before" || shown[1].Final() {
		t.Error("what was shown before has changed")
	}
}

func TestPartsSurviveJSON(t *testing.T) {
	in := at(1, 0)
	in.ID.Thread[0] = 1
	in.Parts = []ledger.Part{{Quotes: 1, Text: 1, Files: 2}, {Text: 1}}
	b, err := in.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	out, err := ledger.DecodeTurn(b, nil)
	if err != nil || fmt.Sprint(out.Parts) != fmt.Sprint(in.Parts) || out.Parts[0].Len() != 4 {
		t.Errorf("parts %+v, %v", out.Parts, err)
	}
}
