package access

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCodesAreUnlikeAndFree(t *testing.T) {
	seen := map[string]bool{}
	for range 3000 {
		code := NewCode(func(c string) bool { return seen[c] })
		if seen[code] {
			t.Fatalf("%s was taken", code)
		}
		seen[code] = true
		if back, ok := ReadCode(" " + strings.ToLower(code) + "\n"); !ok || back != code {
			t.Fatalf("%s is read as %q, %v", code, back, ok)
		}
		if strings.ContainsAny(code, "01258BGILOSUVZ") {
			t.Fatalf("%s holds what looks like something else", code)
		}
	}
	used := map[rune]bool{}
	for code := range seen {
		for _, r := range code {
			used[r] = true
		}
	}
	if len(used) != len(codeLetters) {
		t.Errorf("%d letters are used of %d", len(used), len(codeLetters))
	}
}

func TestReadCode(t *testing.T) {
	for typed, ok := range map[string]bool{"7Q4K": true, "7q4k ": true, "": false, "7Q4": false, "7Q4KK": false, "7Q4O": false, "７Q4": false, "7Q/K": false} {
		if _, got := ReadCode(typed); got != ok {
			t.Errorf("%q: %v, want %v", typed, got, ok)
		}
	}
}

// What is pasted of a code, in any case and with what stands around it, is the code; nothing else is one.
func TestLinkCodes(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		code := NewLinkCode()
		letters := strings.ReplaceAll(code, "-", "")
		for _, typed := range []string{code, letters, " " + strings.ToLower(code) + "\n", "`" + code + "`.", strings.ReplaceAll(code, "-", " "), strings.ReplaceAll(code, "-", "\u2011")} {
			if got, ok := ReadLinkCode(typed); !ok || got != letters {
				t.Fatalf("%q is read as %q, %v", typed, got, ok)
			}
		}
		if seen[letters] || len(code) != 9 || strings.ContainsAny(letters, "01258BGILOSUVZ") {
			t.Fatalf("%s", code)
		}
		seen[letters] = true
	}
	for _, typed := range []string{"", "7Q4K", "7Q4K-93A", "7Q4K-93ADD", "7Q4K-93AO", "７Q4K-93AD", "history", "ſQ4K-93AD", "7Q4K/93AD"} {
		if got, ok := ReadLinkCode(typed); ok {
			t.Errorf("%q is read as %q", typed, got)
		}
	}
}

func TestKnocksAreBoundedByTheHour(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	count := func(k *Knocks, id string, n int) (heard int) {
		for range n {
			if k.Heard(id, now) {
				heard++
			}
		}
		return heard
	}
	var k Knocks
	if n := count(&k, "a", 100); n != knocksOfOne {
		t.Errorf("%d of one person", n)
	}
	if n := count(&k, "b", 1); n != 1 {
		t.Error("another is not heard")
	}
	all := knocksOfOne + 1
	for i := range 3 * knocksOfAll {
		all += count(&k, fmt.Sprint(i), 1)
	}
	if all != knocksOfAll || len(k.by) > knocksOfAll {
		t.Errorf("%d of all, %d remembered", all, len(k.by))
	}
	now = now.Add(time.Hour)
	if n := count(&k, "a", 100); n != knocksOfOne {
		t.Errorf("%d in the next hour", n)
	}
	now = now.Add(-2 * time.Hour) // the clock was set back
	if n := count(&k, "a", 1); n != 1 {
		t.Error("nobody is heard any more")
	}
}
