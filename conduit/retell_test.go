package conduit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// What was shown of a question elsewhere follows it: an edit, a deletion, company that came late.
func TestWhatWasShownFollowsTheQuestion(t *testing.T) {
	refusing := func(remove bool, class conduit.Class) func(conduittest.Message, bool) error {
		return func(_ conduittest.Message, r bool) error {
			if r == remove {
				return refuse(class).Err
			}
			return nil
		}
	}
	both := func(conduittest.Message, bool) error { return refuse(conduit.Gone).Err }
	never := func(conduittest.Message, bool) error { return refuse(conduit.Unknown).Err }
	const long = "0123456789abcdefghij!"
	for name, c := range map[string]struct {
		old, now string
		edit     bool
		revise   func(conduittest.Message, bool) error
		want     []string
	}{
		"an edit":                        {"one", "two", true, nil, []string{"mem:b: two", "answer"}},
		"an edit that takes less":        {long, "two", true, nil, []string{"mem:b: two", "answer"}},
		"an edit that takes more":        {"one", long, true, nil, []string{"answer", "mem:b: 0123456789", "abcdefghij", "!"}},
		"an edit whose form is refused":  {"one", "two", true, once(conduit.Malformed), []string{"mem:b: plain: two", "answer"}},
		"an edit to nothing":             {long, "~", true, nil, []string{"answer"}},
		"an edit that is refused":        {"one", "two", true, refusing(false, conduit.Malformed), []string{"answer", "mem:b: two"}},
		"a deletion":                     {long, "", false, nil, []string{"answer"}},
		"a part is deleted":              {"one, two", "two", false, nil, []string{"mem:b: two", "answer"}},
		"company":                        {"one", "one, two", false, nil, []string{"mem:b: one, two", "answer"}},
		"a deletion that is refused":     {long, "", false, refusing(true, conduit.Malformed), []string{"(taken bac", "(taken bac", "(taken bac", "answer"}},
		"nothing can be done":            {long, "", false, both, append([]string{"mem:b: 0123456789", "abcdefghij", "!", "answer"}, cut(conduit.StillThere)...)},
		"an edit where nothing can be":   {"one", "two", true, both, []string{"mem:b: one", "answer", "mem:b: two"}},
		"the platform asks to wait":      {"one", "two", true, thrice(conduit.RetryAfter), []string{"mem:b: two", "answer"}},
		"nobody ever knows":              {"one", "two", true, refusing(false, conduit.Unknown), []string{"answer", "mem:b: two"}},
		"nobody ever knows of anything":  {"one", "", false, never, append([]string{"mem:b: one", "answer"}, cut(conduit.StillThere)...)},
		"nobody knows whether it's done": {"one", "", false, thrice(conduit.Unknown), []string{"answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newLinked(t, false, c.old)
				b.cfg.Renderer = conduittest.Text{Limit: 10}
				b.must(b.w.Answer("answer"))
				b.start("one").rest(time.Hour)
				b.p.Revise = c.revise
				b.must(change(b.w, c.edit, c.now))
				b.start("two").rest(3 * time.Hour)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
				b.wantTexts(placeB, "answer")
			})
		})
	}
}

// Credentials that are refused while a message is changed end the platform, as with a post; the change is made in the next life.
func TestRefusedCredentialsDuringAChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, false, "one")
		b.must(b.w.Answer("answer"))
		b.start("one").rest(time.Hour)
		tries := 0
		b.p.Revise = func(conduittest.Message, bool) error {
			tries++
			return refuse(conduit.Dead).Err
		}
		b.must(b.w.Edit(placeB, 1, "two"))
		l := b.start("two")
		time.Sleep(time.Hour)
		var e *conduit.Error
		if err := l.stop(); !errors.As(err, &e) || e.Class != conduit.Dead || tries != 1 {
			t.Errorf("Run: %v, after %d tries", err, tries)
		}
		b.p.Revise = nil
		b.start("three").rest(time.Hour)
		b.wantTexts(placeA, "mem:b: two", "answer")
		b.wantServed(placeA)
	})
}

// cut is what the tests' renderer makes of a text.
func cut(s string) (parts []string) {
	for len(s) > 10 {
		parts, s = append(parts, s[:10]), s[10:]
	}
	return append(parts, s)
}

// change lets the first question read otherwise: by an edit, or by a rewritten record.
func change(w *conduittest.Writer, edit bool, now string) error {
	if edit {
		return w.Edit(placeB, 1, now)
	}
	return w.Rewrite(placeB, 1, now)
}

func once(class conduit.Class) func(conduittest.Message, bool) error { return times(1, class) }

func thrice(class conduit.Class) func(conduittest.Message, bool) error { return times(3, class) }

// times refuses the first changes.
func times(most int, class conduit.Class) func(conduittest.Message, bool) error {
	n := 0
	return func(conduittest.Message, bool) error {
		if n++; n <= most {
			return refuse(class).Err
		}
		return nil
	}
}

// A question that was posted anew is followed, too, again and again, and never what isn't shown any more.
func TestAQuestionIsFollowedAgainAndAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		b.must(b.w.Edit(placeB, 1, "early"))
		l := b.start("one")
		for _, c := range []struct{ now, want string }{
			{"0123456789abc", "mem:b: 0123456789|abc"}, {"0123456789", "mem:b: 0123456789"}, {"x", "mem:b: x"},
			{"0123456789abcdefghij!", "mem:b: 0123456789|abcdefghij|!"}, {"y", "mem:b: y"}, {"", ""},
		} {
			time.Sleep(time.Hour)
			b.must(change(b.w, c.now != "", c.now))
			l.c.Nudge(placeA)
			time.Sleep(time.Hour)
			if got := strings.Join(b.p.Texts(placeA), "|"); got != c.want {
				t.Errorf("after %q: %q, want %q", c.now, got, c.want)
			}
		}
		b.must(l.stop())
		b.wantServed(placeA)
		if n := b.p.Tries(); n != 6 { // what fits is changed where it stands: what was removed isn't tried again
			t.Errorf("%d posts", n)
		}
	})
}

// Who wasn't shown a question, and whose it is, gets nothing of its changes.
func TestChangesOfWhatWasNotShownHere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeB))
		b.must(b.w.User(placeB, "mem:b", "one"))
		b.must(b.w.Answer("answer"))
		b.must(b.w.Bind(placeA))
		b.must(b.w.Edit(placeB, 1, "two"))
		b.must(b.w.Rewrite(placeB, 1, ""))
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA)
		b.wantTexts(placeB, "answer")
		b.wantServed(placeA)
	})
}

// Whatever write the process dies at, and around whatever post or change, each place shows in the end what the question says, once; where
// the platform can't be asked, at most with a repeat that says so.
func TestDeathAtEveryStepOfAChange(t *testing.T) {
	for _, now := range []string{"two", "0123456789abc", ""} {
		for _, finds := range []bool{false, true} {
			for at := range 24 {
				t.Run(fmt.Sprintf("%q/%v/%d", now, finds, at), func(t *testing.T) {
					bubble(t, func(t *testing.T) { dieAt(t, now, finds, at) })
				})
			}
		}
	}
}

// dieAt ends a life at its at-th step: a post or a change before or behind its effect.
func dieAt(t *testing.T, now string, finds bool, at int) {
	b := newLinked(t, finds, "a question that is long")
	b.must(b.w.Answer("answer"))
	b.start("zero").rest(time.Hour)
	b.must(change(b.w, now != "", now))
	b.must(b.w.Answer("next"))
	var mu sync.Mutex // two couriers are at work
	var l *life
	n := 0
	step := func() error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == at+1 {
			l.cancel()
		}
		if n > at {
			return errDied
		}
		return nil
	}
	b.p.Before = func(session.Address) error { return step() }
	b.p.After = b.p.Before
	b.p.Revise = func(conduittest.Message, bool) error { return step() }
	mu.Lock()
	l = b.start("one")
	mu.Unlock()
	time.Sleep(time.Hour)
	b.must(l.stop())
	b.p.Before, b.p.After, b.p.Revise = nil, nil, nil
	b.start("two").rest(time.Hour)
	want := map[string][]string{"two": {"mem:b: two", "answer", "next"}, "": {"answer", "next"},
		"0123456789abc": {"mem:b: 0123456789", "abc", "answer", "next"}}[now]
	got := b.p.Texts(placeA)
	for i := range got {
		if !finds {
			got[i] = strings.TrimPrefix(got[i], repeat)
		}
	}
	got = slices.Compact(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.wantServed(placeA)
}
