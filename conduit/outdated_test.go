package conduit_test

import (
	"slices"
	"testing"
	"time"

	"orebot/conduit/conduittest"
)

// ever notes every text that a platform was given to show, changed or not, and lets all of it through.
func ever(p *conduittest.Platform) func() []string {
	var texts []string
	p.Revise = func(m conduittest.Message, _ bool) error { texts = append(texts, m.Text); return nil }
	return func() []string { return append(slices.Clone(texts), append(p.Texts(placeA), p.Texts(placeB)...)...) }
}

// A change that comes while the copy of its question is on its way is followed all the same.
func TestAChangeWhileTheCopyIsPosted(t *testing.T) {
	for name, c := range map[string]struct {
		edit bool
		now  string
		want []string
	}{"an edit": {true, "two", []string{"mem:b: two", "answer"}}, "a deletion": {false, "", []string{"answer"}}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.must(b.w.Bind(placeA, placeB))
				b.must(b.w.User(placeB, "mem:b", "one"))
				b.p.Next(placeA, conduittest.Trouble{Hang: time.Minute})
				l := b.start("one")
				time.Sleep(time.Second)
				b.must(change(b.w, c.edit, c.now))
				b.must(b.w.Answer("answer"))
				l.rest(time.Hour)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
			})
		})
	}
}
