package ledger_test

import (
	"context"
	"sync"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

func script(st ledger.State) string {
	s := ""
	for _, t := range st.Turns() {
		s += string(t.Role[:1]) + ":" + t.Text() + " "
	}
	return s
}

func user(s string) ledger.Turn { return ledger.Turn{Role: ledger.RoleUser, Artifacts: text(s)} }
func system(s string) ledger.Turn {
	return ledger.Turn{Role: ledger.RoleSystem, Artifacts: text(s)}
}

func TestBufferStamps(t *testing.T) {
	thread := ledger.ThreadID{7}
	b := ledger.NewBufferOf(thread)
	for i := ledger.Seq(1); i <= 3; i++ {
		got, err := b.Append(t.Context(), user("x"))
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != (ledger.TurnID{Thread: thread, Seq: i}) || got.Parent != i-1 || got.Time.IsZero() || !got.Stamped() {
			t.Errorf("got %#v", got)
		}
	}
	if n := len(b.Turns()); n != 3 {
		t.Errorf("%d turns", n)
	}
}

func TestBufferIsSafeForConcurrentUse(t *testing.T) {
	b := ledger.NewBuffer()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := b.Append(context.Background(), user("x")); err != nil {
					t.Error(err)
				}
				_ = b.Turns()
			}
		})
	}
	wg.Wait()
	for i, turn := range b.Turns() {
		if turn.ID.Seq != ledger.Seq(i+1) {
			t.Fatalf("turn %d has sequence %d", i, turn.ID.Seq)
		}
	}
}

// What is derived from a buffer must never reach it, whatever is done to it.
func TestViewsDoNotTouchTheBuffer(t *testing.T) {
	views := map[string]struct {
		make func(ledger.State) ledger.State
		want string
	}{
		"prepend":  {func(st ledger.State) ledger.State { return ledger.Prepend(st, system("s")) }, "s:s u:a u:b "},
		"new view": {func(st ledger.State) ledger.State { return ledger.NewView(st, st.Turns()[1:]) }, "u:b "},
		"snapshot": {ledger.Snapshot, "u:a u:b "},
	}
	for name, v := range views {
		t.Run(name, func(t *testing.T) {
			b := ledger.NewBuffer()
			for _, s := range []string{"a", "b"} {
				if _, err := b.Append(t.Context(), user(s)); err != nil {
					t.Fatal(err)
				}
			}
			view := v.make(b)
			if got := script(view); got != v.want {
				t.Errorf("shows %q, want %q", got, v.want)
			}
			got, err := view.Append(t.Context(), user("c"))
			if err != nil || got.Stamped() {
				t.Errorf("append to a view: %#v, %v", got, err)
			}
			if got := script(view); got != v.want+"u:c " {
				t.Errorf("shows %q", got)
			}
			for i := range view.Turns() {
				view.Turns()[i].Role = "evil"
			}
			if got := script(b); got != "u:a u:b " {
				t.Errorf("the buffer became %q", got)
			}
		})
	}
}

func TestSnapshotSharesNothing(t *testing.T) {
	b := ledger.NewBuffer()
	turn := user("a")
	turn.Entries = []string{"k"}
	if _, err := b.Append(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(t.Context(), user("b")); err != nil {
		t.Fatal(err)
	}
	seen := ledger.Snapshot(b).Turns()
	seen[0].Artifacts[0] = artifact.Text{Content: "evil"}
	seen[0].Entries[0] = "evil"
	_ = append(seen[0].Artifacts, artifact.Text{Content: "evil"})
	if got := script(b); got != "u:a u:b " || b.Turns()[0].Entries[0] != "k" {
		t.Errorf("the buffer became %q", got)
	}
	if seen[1].Text() != "b" {
		t.Error("turns of a snapshot share artifacts")
	}
}

func TestNilStates(t *testing.T) {
	if got := script(ledger.Prepend(nil, system("s"))); got != "s:s " {
		t.Errorf("got %q", got)
	}
	if n := len(ledger.Snapshot(nil).Turns()) + len(ledger.NewView(nil, nil).Turns()); n != 0 {
		t.Errorf("%d turns", n)
	}
}

func TestLaterAppendLeavesEarlierTurnsAlone(t *testing.T) {
	v := ledger.NewView(nil, []ledger.Turn{user("a")})
	before := v.Turns()
	if _, err := v.Append(t.Context(), user("b")); err != nil {
		t.Fatal(err)
	}
	_ = append(before, user("evil"))
	if got := script(v); got != "u:a u:b " || len(before) != 1 {
		t.Errorf("got %q, %d before", got, len(before))
	}
}

func TestDraft(t *testing.T) {
	ctx := ledger.WithDraft(t.Context())
	if !ledger.IsDraft(ctx) || !ledger.IsDraft(context.WithoutCancel(ctx)) || ledger.IsDraft(t.Context()) {
		t.Error("IsDraft")
	}
	b := ledger.NewBuffer()
	turn := ledger.Turn{Role: ledger.RoleAssistant, Draft: true}
	turn, _ = b.Append(ctx, turn)
	if err := b.Promote(ctx, turn.ID); err != nil || !b.Turns()[0].Final() {
		t.Errorf("promote: %v", err)
	}
	if b.Promote(ctx, ledger.TurnID{Seq: 9}) == nil {
		t.Error("promoted a turn that isn't there")
	}
}
