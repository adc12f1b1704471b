package play

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A play that isn't what happens fails, and says where.
func TestAPlayCanFail(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"another text":          {"ana> hi\nmodel: says \"a\"\nbot< b\nsum: 1 answered", "line 3 (bot< b): the bot said: @0s bot@dm (to ana#1)< a"},
		"a notice, no answer":   {"ana> hi\nmodel: says \"a\"\nbot! a\nsum: 1 answered", "line 3"},
		"another place":         {"ana> hi\nmodel: says \"a\"\nbot@t1< a\nsum: 1 answered", "line 3"},
		"another question":      {"ana> hi\nana> ho\nmodel: says \"a\"\nbot (to ana#2)< a\nsum: 2 answered", "line 4"},
		"another time":          {"ana> hi\nwait 10s\nmodel: says \"a\"\n@20s bot< a\nsum: 1 answered", "line 4"},
		"silence":               {"ana> hi\nmodel: hangs\nbot< a\nsum: 1 answered", "the bot said: @1m0s bot@dm~ slow"},
		"nothing at all":        {"slow: 0s\nana> hi\nmodel: hangs\nbot< a\nsum: 1 answered", "the bot says nothing"},
		"too much":              {"ana> hi\nmodel: says \"a\"\nana> ho\nsum: 2 answered", "line 3 (ana> ho): before it the bot said"},
		"too much at the end":   {"ana> hi\nmodel: says \"a\"\nsum: 1 answered", "line 3"},
		"another sum":           {"ana> hi\nmodel: says \"a\"\nbot< a\nsum: 1 noticed", "it is: 1 answered"},
		"an unanswered call":    {"slow: 0s\nana> hi\nsum: 1 answered", "the model is still asked: user hi"},
		"another prompt":        {"ana> hi\nmodel: reads user ho\nsum: 1 answered", "it reads: user hi"},
		"nobody asks":           {"wait 1s\nmodel: says \"a\"\nsum: 1 answered", "nobody asks the model"},
		"nobody lets go":        {"ana> hi\nmodel: is let go\nsum: 1 answered", "nobody has given a call up"},
		"not heard":             {"ana (heard)> hi\nsum: 1 heard", `became "" (), not "heard"`},
		"not answered":          {"in: t1\nana> hi\nsum: 1 answered", `became "ignored" (ambient), not ""`},
		"twice, but it is new":  {"ana> hi\nmodel: says \"a\"\nbot< a\nagain ben#1\nsum: 1 answered", "nobody has written ben#1"},
		"starts without an end": {"start\nsum: 0 answered", "runs already"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := read(c.text)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				if err := perform(t, s); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

// What isn't a line of a play isn't passed over.
func TestReadRefuses(t *testing.T) {
	for _, text := range []string{
		"", "ana> hi", "ana says hi\nsum: 0 answered", "model> hi\nsum: 0 answered", "ana: hi\nsum: 0 answered",
		"edit ana: hi\nsum: 0 answered", "@5x ana> hi\nsum: 0 answered", "ana> hi\nin: t1\nsum: 1 answered",
	} {
		if s, err := read(text); err == nil {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a.c", "abc", false}, {"a…", "abc", true}, {"…c", "abc", true}, {"a…c", "a\nb\nc", true}, {"a…b", "abc", false},
	} {
		if matches(c.want, c.got) != c.ok {
			t.Errorf("%q and %q: want %v", c.want, c.got, c.ok)
		}
	}
}
