package main

import "fmt"

// The kinds of token that a GGUF file tells apart.
const (
	kindText    int32 = 1
	kindControl int32 = 3
	kindWord    int32 = 4 // found in a text as a whole
)

// vocab is what the model can read and say, and what follows each token.
type vocab struct {
	text []string
	kind []int32
	next []int
	at   map[string]int
}

// newVocab makes the vocabulary of a play: the 256 bytes, the tags, and what its lines need.
func newVocab(lines []line) (*vocab, error) {
	v := &vocab{at: map[string]int{}}
	for b := range 256 {
		v.add(spell(string([]byte{byte(b)})), kindText)
	}
	for _, t := range tags() {
		v.add(t, kindControl)
	}
	v.add(spell(mergeLeft+mergeRight), kindText)
	greeting := len(v.text)
	if lines[0].word != toolEnd {
		greeting++ // behind its word
	}
	for _, l := range lines {
		if err := v.learn(l); err != nil {
			return nil, err
		}
	}
	for i := range v.next {
		if v.next[i] < 0 {
			v.next[i] = greeting
		}
	}
	return v, nil
}

// The tokenizer wants at least one pair that it may join. This one is in no valid text.
const mergeLeft, mergeRight = "\xff", "\xfe"

func (v *vocab) add(text string, kind int32) int {
	id := len(v.text)
	v.text, v.kind, v.next = append(v.text, text), append(v.kind, kind), append(v.next, -1)
	v.at[text] = id
	return id
}

// learn adds the tokens of a line and links them.
func (v *vocab) learn(l line) error {
	from, known := v.at[l.word]
	if !known {
		from = v.add(l.word, kindWord)
	}
	first := len(v.text)
	for _, piece := range l.says {
		if _, twice := v.at[spell(piece)]; twice {
			return fmt.Errorf("the token %q is there already", piece)
		}
		id := v.add(spell(piece), kindText)
		v.next[from], from = id, id
	}
	v.next[from] = v.at[end]
	if l.endless {
		v.next[from] = first
	}
	return nil
}

// spell writes bytes as the letters that a byte-level vocabulary has for them: printable ones stand for themselves, the others for
// letters from U+0100 on, in their order.
func spell(raw string) string {
	out := make([]rune, 0, len(raw))
	for _, b := range []byte(raw) {
		out = append(out, letter(b))
	}
	return string(out)
}

func letter(b byte) rune {
	plain := func(b byte) bool { return b >= '!' && b <= '~' || b >= 0xa1 && b != 0xad }
	if plain(b) {
		return rune(b)
	}
	hidden := rune(0)
	for c := range b {
		if !plain(c) {
			hidden++
		}
	}
	return 256 + hidden
}
