package session_test

import (
	"slices"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// The same holds for a question that stands behind new: it is asked once, in the fresh conversation alone.
func TestDeathAtEveryCommitOfANewQuestion(t *testing.T) {
	atEveryDeath(t, 14, func(t *testing.T, mem *storetest.Memory, applied bool, left int) {
		in := []session.Inbound{msg(dm, "slack:U1", "one"), msg(dm, "slack:U1", "/new two"), msg(dm, "slack:U1", "three")}
		p := echo(500 * time.Millisecond)
		for _, n := range []int{left, 1 << 30} {
			c := &crashing{Memory: mem, left: n, applied: applied}
			c.run(t, p, in, commanded(mem))
		}
		b := &bench{t: t, store: mem}
		for _, m := range in {
			b.ended(m, session.EndAnswered)
		}
		if log := b.log(dm); !slices.Equal(log, []string{"user two", "assistant re: two", "user three", "assistant re: three"}) &&
			!slices.Equal(log, []string{"user two|three", "assistant re: two|three"}) {
			t.Errorf("new log %q", log)
		}
		st := at(t, mem, dm)
		if len(st.Binding.Back) != 1 || st.Binding.Leg != 1 {
			t.Fatalf("binding %+v", st.Binding)
		}
		equal(t, "old log", b.logOf(st.Binding.Back[0]), []string{"user one", "assistant re: one",
			"end A fresh conversation begins. `/undo` returns to the one before."})
	})
}

// Whatever commit the process dies at, a command's effect happens exactly once, in its place, and its message has one end.
func TestDeathAtEveryCommitOfCommands(t *testing.T) { atEveryDeath(t, 26, dieAmongCommands) }

func dieAmongCommands(t *testing.T, mem *storetest.Memory, applied bool, left int) {
	p := echo(500 * time.Millisecond)
	texts := []string{"one", "/model big:7b", "/retry", "two", "/undo", "/new", "three"}
	var in []session.Inbound
	for _, s := range texts {
		in = append(in, msg(dm, "slack:U1", s))
	}
	for _, n := range []int{left, 1 << 30} {
		c := &crashing{Memory: mem, left: n, applied: applied}
		c.run(t, p, in, commanded(mem))
	}
	b := &bench{t: t, store: mem}
	for i, m := range in {
		want := session.EndAnswered
		if slices.Contains([]int{1, 4, 5}, i) {
			want = session.EndNoticed
		}
		b.ended(m, want)
	}
	equal(t, "new log", b.log(dm), []string{"user three", "assistant re: three"})
	st := at(t, mem, dm)
	if len(st.Binding.Back) != 1 || st.Binding.Leg != 1 {
		t.Fatalf("binding %+v", st.Binding)
	}
	old := b.logOf(st.Binding.Back[0])
	equal(t, "old log", old, []string{"user one", "assistant re: one", "s", "end From the next message on, `big:7b` answers here.",
		"tip 1", "assistant re: one", "user two", "assistant re: two", "tip 6", "end Taken back: “two”",
		"end A fresh conversation begins. `/undo` returns to the one before."})
}
