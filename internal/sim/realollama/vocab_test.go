package main

import (
	"bytes"
	"strings"
	"testing"
)

// Every line is said as it is written, token by token, and then ends, or begins again.
func TestEveryLineIsSaid(t *testing.T) {
	v, err := newVocab(play())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range play() {
		id := v.at[l.word]
		for _, want := range l.says {
			if id = v.next[id]; v.text[id] != spell(want) {
				t.Errorf("%s: %q where %q is due", l.word, v.text[id], want)
			}
		}
		last := v.text[v.next[id]]
		if l.endless && last != spell(l.says[0]) || !l.endless && last != end {
			t.Errorf("%s ends in %q", l.word, last)
		}
	}
	if got := v.text[v.next[v.at["x"]]]; got != "Hello" {
		t.Errorf("any other text is answered with %q", got)
	}
}

func TestBytesHaveLettersOfTheirOwn(t *testing.T) {
	seen := map[rune]bool{}
	for b := range 256 {
		seen[letter(byte(b))] = true
	}
	if len(seen) != 256 || spell(" \n\xad") != "ĠĊŃ" {
		t.Errorf("%d letters, %q", len(seen), spell(" \n\xad"))
	}
	if _, err := newVocab([]line{{word: "/x", says: []string{"a"}}}); err == nil {
		t.Error("a line takes a byte's token")
	}
}

func TestHalf(t *testing.T) {
	for x, want := range map[float32]uint16{0: 0, 1: 0x3c00, 2: 0x4000, 0.5: 0x3800, -1: 0xbc00, 1e-9: 0} {
		if got := half(x); got != want {
			t.Errorf("%v is %#04x, want %#04x", x, got, want)
		}
	}
}

func TestTensorsAreAligned(t *testing.T) {
	ones := func(int, int) float32 { return 1 }
	b, err := encode([]pair{{"k", "v"}}, []tensor{{"a", 3, 1, ones}, {"b", 2, 2, ones}})
	if err != nil || len(b)%alignment != 0 || !bytes.HasSuffix(b, append(bytes.Repeat([]byte{0, 0x3c}, 4), make([]byte, 24)...)) {
		t.Errorf("%x, %v", b, err)
	}
	if _, err := encode([]pair{{"k", 1}}, nil); err == nil || !strings.Contains(err.Error(), "int") {
		t.Error(err)
	}
}
