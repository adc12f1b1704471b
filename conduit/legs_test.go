package conduit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
)

// fourLegs is an address that went from one thread to another, back, and to a third one, before anything was delivered. The second
// thread is shorter than the first, the third has nothing.
func fourLegs(t *testing.T, finds bool) (*bench, []string) {
	b := newBench(t, finds)
	two, three := conduittest.NewWriter(b.store, 2), conduittest.NewWriter(b.store, 3)
	b.must(b.w.Bind(placeA, placeB))
	for i := range 5 {
		b.must(b.w.Answer(fmt.Sprintf("one %d", i)))
	}
	b.must(b.w.Leave(placeA, two, "new 1"))
	b.must(b.w.Answer("not here"))
	b.must(two.Answer("two"))
	b.must(two.Leave(placeA, b.w, "back"))
	b.must(b.w.Answer("one 5"))
	b.must(b.w.Leave(placeA, three, "new 2"))
	return b, []string{"one 0", "one 1", "one 2", "one 3", "one 4", "new 1", "two", "back", "one 5", "new 2"}
}

// An address that goes from thread to thread is served what it may see of each, in order, and is then due whatever comes first in the last one.
func TestAnAddressIsServedThreadAfterThread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b, want := fourLegs(t, true)
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, want...)
		if st := b.address(placeA); st.Due != 1 || st.Cursor.Leg != 3 { // whatever comes first there
			t.Errorf("due %d, cursor %+v", st.Due, st.Cursor)
		}
	})
}

// What is written to the new thread while the old one is still being delivered is neither lost nor out of order, wherever the process
// ends meanwhile.
func TestKillsBetweenThreads(t *testing.T) {
	for _, finds := range []bool{true, false} {
		for n, reached := 1, true; reached; n++ {
			bubble(t, func(t *testing.T) {
				b, want := fourLegs(t, finds)
				reached = b.dies("one", n)
				three := conduittest.NewWriter(b.store, 3)
				b.must(three.Answer("three"))
				// the writer of the third thread knows nobody there: the address is due all the same, by its binding
				b.start("two").rest(time.Hour)
				got := slices.Compact(b.p.Texts(placeA))
				for i := range got {
					got[i] = trimRepeat(got[i])
				}
				if got = slices.Compact(got); !slices.Equal(got, append(want, "three")) {
					t.Fatalf("finds %v, killed at %d: %q", finds, n, got)
				}
				if st := b.address(placeA); st.Due != 0 {
					t.Fatalf("finds %v, killed at %d: due %d", finds, n, st.Due)
				}
			})
		}
	}
}

func trimRepeat(s string) string {
	if len(s) > len(repeat) && s[:len(repeat)] == repeat {
		return s[len(repeat):]
	}
	return s
}

// An address that is gone is buried in every thread that it was bound to.
func TestAGoneAddressIsBuriedInEveryThread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b, _ := fourLegs(t, true)
		b.p.Next(placeA, refuse(conduit.Gone))
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA)
		if st := b.address(placeA); st.Due != 0 || st.Cursor.Leg != 3 {
			t.Errorf("due %d, cursor %+v", st.Due, st.Cursor)
		}
	})
}
