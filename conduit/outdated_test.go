package conduit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
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
				b := newLinked(t, false, "one")
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

// What is taken back while its copy waits is never posted: not from a page that was read before, not after a pause, not again after an
// unknown outcome, not in the next life.
func TestWhatWasTakenBackIsNeverPosted(t *testing.T) {
	later := conduittest.Trouble{Err: &conduit.Error{Class: conduit.RetryAfter, After: time.Minute}}
	for name, c := range map[string]struct {
		first  []conduittest.Trouble // of the posts at placeA
		now    string
		dies   bool
		edited bool
		want   []string
	}{
		"behind another":     {first: []conduittest.Trouble{{Hang: time.Minute}}, want: []string{"mem:b: one", "answer"}},
		"in its own pause":   {first: []conduittest.Trouble{{}, later}, want: []string{"mem:b: one", "answer"}},
		"in part":            {first: []conduittest.Trouble{{}, later}, now: "two", want: []string{"mem:b: one", "mem:b: two", "answer"}},
		"behind an edit":     {first: []conduittest.Trouble{later}, edited: true, want: []string{"mem:b: one", "answer"}},
		"of unknown outcome": {first: []conduittest.Trouble{{}, failing(false, 0)}, want: []string{"mem:b: one", "answer"}},
		"between two lives":  {first: []conduittest.Trouble{{}, {Hang: time.Hour}}, dies: true, want: []string{"mem:b: one", "answer"}},
		"part, between lives": {first: []conduittest.Trouble{{}, {Hang: time.Hour}}, now: "two", dies: true,
			want: []string{"mem:b: one", "mem:b: two", "answer"}},
	} {
		for _, finds := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/", finds), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := newLinked(t, finds, "one")
					b.cfg.Renderer = conduittest.Text{Limit: 30}
					b.must(b.w.User(placeB, "mem:b", "secret, two"))
					if c.edited {
						b.must(b.w.Edit(placeB, 2, "secret, too"))
					}
					b.p.Next(placeA, c.first...)
					texts := ever(b.p)
					l := b.start("one")
					time.Sleep(time.Second)
					if c.dies {
						b.must(l.stop())
					}
					b.must(b.w.Rewrite(placeB, 2, c.now))
					b.must(b.w.Answer("answer"))
					if c.dies {
						l = b.start("two")
					} else {
						l.c.Nudge(placeA)
					}
					l.rest(2 * time.Hour)
					if got := texts(); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "secret") }) {
						t.Errorf("a place was shown %q", got)
					}
					got := b.p.Texts(placeA)
					for i := range got { // where nobody can look, an unknown outcome costs a label
						got[i] = strings.TrimPrefix(got[i], repeat)
					}
					if !slices.Equal(got, c.want) {
						t.Errorf("%q, want %q", got, c.want)
					}
					b.wantServed(placeA)
				})
			})
		}
	}
}

// A wording that was taken back while its change waited isn't shown any more.
func TestAChangeThatWasTakenBackIsNeverMade(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, false, "one")
		b.start("zero").rest(time.Hour)
		var texts []string
		n := 0
		b.p.Revise = func(m conduittest.Message, _ bool) error {
			texts = append(texts, m.Text)
			if n++; n == 1 {
				return &conduit.Error{Class: conduit.RetryAfter, After: time.Minute}
			}
			return nil
		}
		b.must(b.w.Edit(placeB, 1, "a secret"))
		l := b.start("one")
		time.Sleep(time.Second)
		b.must(b.w.Rewrite(placeB, 1, ""))
		l.rest(time.Hour)
		b.wantTexts(placeA)
		if want := []string{"mem:b: one", "mem:b: one"}; !slices.Equal(texts, want) {
			t.Errorf("before the changes it said %q, want %q", texts, want)
		}
	})
}

// reads counts what is read of logs.
type reads struct {
	*storetest.Memory
	n *int
}

// Log implements session.Reader.
func (r reads) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	*r.n++
	return r.Memory.Log(ctx, id, from, limit)
}

// Where nothing is linked, edits of questions cost the courier nothing.
func TestOwnEditsCostNothing(t *testing.T) {
	read := func(edits int) (n int) {
		bubble(t, func(t *testing.T) {
			b := newBench(t, false)
			b.cfg.Store = reads{b.store, &n}
			b.must(b.w.Bind(placeB))
			b.must(b.w.User(placeB, "mem:b", "one"))
			for range edits {
				b.must(b.w.Edit(placeB, 1, "two"))
			}
			b.must(b.w.Answer("answer"))
			b.start("one").rest(time.Hour)
			b.wantTexts(placeB, "answer")
		})
		return n
	}
	if none, ten := read(0), read(10); ten > none {
		t.Errorf("ten edits cost %d reads instead of %d", ten, none)
	}
}

// What is taken back while nobody knows whether its copy was posted is found, where the platform can be asked, and removed.
func TestWhatMayHaveBeenShownIsRemoved(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for offset := range 2 {
			t.Run(fmt.Sprint(dies, offset), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := newLinked(t, true, "a secret that is long")
					troubles := append(make([]conduittest.Trouble, offset), failing(true, 5*time.Second))
					b.p.Next(placeA, troubles...)
					l := b.start("one")
					time.Sleep(time.Second)
					if dies {
						b.must(l.stop())
					}
					b.must(b.w.Rewrite(placeB, 1, ""))
					b.must(b.w.Answer("answer"))
					if dies {
						b.p.NextFind(placeA, refuse(conduit.Retry).Err)
						l = b.start("two")
					}
					l.rest(time.Hour)
					b.wantTexts(placeA, "answer")
					b.wantServed(placeA)
				})
			})
		}
	}
}

// A hundred edits in a minute come to a few changes, of which the last one is the question's wording, and hold up the answers behind them
// no longer than one change does.
func TestAStormOfEdits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, false, "one")
		b.cfg.Pacer = conduit.NewPacer(conduit.Rate{}, func(a session.Address) (string, conduit.Rate) {
			return string(a), conduit.Rate{Limit: 1.0 / 3, Burst: 1}
		})
		changes := 0
		b.p.Revise = func(conduittest.Message, bool) error { changes++; return nil }
		l := b.start("one")
		time.Sleep(10 * time.Second)
		for n := range 100 {
			b.must(b.w.Edit(placeB, 1, fmt.Sprint("edit ", n)))
			l.c.Nudge(placeA)
			time.Sleep(600 * time.Millisecond)
		}
		b.must(b.w.Answer("answer"))
		l.c.Nudge(placeA)
		time.Sleep(7 * time.Second)
		b.wantTexts(placeA, "mem:b: edit 99", "answer")
		if changes > 22 {
			t.Errorf("%d changes", changes)
		}
		time.Sleep(time.Minute)
		for n := range 100 { // while nobody delivers
			b.must(b.w.Edit(placeB, 1, fmt.Sprint("more ", n)))
		}
		was := changes
		l.c.Nudge(placeA)
		time.Sleep(time.Minute)
		if b.must(l.stop()); changes-was > 2 {
			t.Errorf("%d changes of what waited", changes-was)
		}
		b.wantTexts(placeA, "mem:b: more 99", "answer")
		b.wantServed(placeA)
	})
}

// What was begun of a change is brought to its end before the next one: what nobody knows of yet is found by then.
func TestABegunChangeIsEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		b.start("zero").rest(time.Hour)
		b.must(b.w.Edit(placeB, 1, "0123456789abcdefghij!"))
		b.p.Next(placeA, conduittest.Trouble{}, failing(true, 0))
		l := b.start("one")
		time.Sleep(time.Second)
		b.must(l.stop())
		b.must(b.w.Edit(placeB, 1, "two"))
		b.start("two").rest(time.Hour)
		b.wantTexts(placeA, "mem:b: two")
		b.wantServed(placeA)
		if n := b.p.Tries(); n != 4 { // the last change was made in place
			t.Errorf("%d posts", n)
		}
	})
}

// A place that has moved keeps nothing of the old one's messages: what they showed isn't followed any more, and what comes next is shown.
func TestAChangeAtAPlaceThatMoves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		b.start("zero").rest(time.Hour)
		b.must(b.w.Edit(placeB, 1, "two"))
		b.must(b.w.Answer("answer"))
		b.p.Revise = func(conduittest.Message, bool) error { return &conduit.Error{Class: conduit.Moved, To: placeC} }
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, "mem:b: one")
		b.wantTexts(placeC, "answer")
		b.wantServed(placeA)
	})
}

// A change that comes after a place has left overtakes nothing there.
func TestChangesBehindALegsEndOvertakeNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		b.must(b.w.Edit(placeB, 1, "two"))
		b.must(b.w.Leave(placeA, conduittest.NewWriter(b.store, 2), "left"))
		b.must(b.w.Edit(placeB, 1, "three"))
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, "mem:b: two", "left")
	})
}

// An edit that comes before its question's copy is posted leaves nothing of the wording before: not while the copy waits, nor across a
// death; one that takes all of it leaves nothing to post. What has been begun in the old wording is ended in it, and changed then.
func TestAnEditBeforeTheFirstCopy(t *testing.T) {
	later := conduittest.Trouble{Err: &conduit.Error{Class: conduit.RetryAfter, After: time.Minute}}
	for name, c := range map[string]struct {
		first []conduittest.Trouble // of the posts at placeA
		now   []string
		late  bool // the edits come while the first copy waits
		dies  bool
		ever  []string
		want  []string
	}{
		"before anybody delivers": {now: []string{"two"}, want: []string{"mem:b: two", "answer"}},
		"of several, the last":    {now: []string{"two", "three"}, want: []string{"mem:b: three", "answer"}},
		"while it waits":          {first: []conduittest.Trouble{later}, now: []string{"two"}, late: true, want: []string{"mem:b: two", "answer"}},
		"between two lives":       {first: []conduittest.Trouble{later}, now: []string{"two"}, late: true, dies: true, want: []string{"mem:b: two", "answer"}},
		"to nothing":              {now: []string{"two", "~"}, want: []string{"answer"}},
		"in the middle": {first: []conduittest.Trouble{{}, later}, now: []string{"new"}, late: true,
			ever: []string{"mem:b: 0123456789", "abcdefghij"}, want: []string{"mem:b: new", "answer"}},
	} {
		for _, finds := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/", finds), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := newLinked(t, finds, "0123456789abcdefghij")
					b.must(b.w.Answer("answer"))
					edit := func() {
						for _, text := range c.now {
							b.must(b.w.Edit(placeB, 1, text))
						}
					}
					if !c.late {
						edit()
					}
					b.p.Next(placeA, c.first...)
					texts := ever(b.p)
					l := b.start("one")
					time.Sleep(time.Second)
					if c.dies {
						b.must(l.stop())
					}
					if c.late {
						edit()
					}
					if c.dies {
						l = b.start("two")
					} else {
						l.c.Nudge(placeA)
					}
					l.rest(2 * time.Hour)
					b.wantTexts(placeA, c.want...)
					b.wantServed(placeA)
					for _, got := range texts() {
						if old := strings.Contains(got, "0123") || strings.Contains(got, "abcd"); old && !slices.Contains(c.ever, got) {
							t.Errorf("%q was shown", got)
						}
					}
				})
			})
		}
	}
}
