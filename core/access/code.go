package access

import (
	"crypto/rand"
	"strings"
)

// codeLetters are those that nobody takes for another one, read, written or spelt: of each pair or trio that look alike (0 O, 1 I L,
// 2 Z, 5 S, 6 G, 8 B, U V) none is there. Each stands for itself in either case.
const codeLetters = "3479ACDEFHJKMNPQRTWXY"

// codeLen gives 194,481 codes. A code opens nothing by itself: the operator, and nobody else, can approve it.
const codeLen = 4

// NewCode returns a random code that isn't taken.
func NewCode(taken func(code string) bool) string {
	for {
		var b [codeLen]byte
		for i := range b {
			b[i] = codeLetters[draw(len(codeLetters))]
		}
		if code := string(b[:]); !taken(code) {
			return code
		}
	}
}

// linkLen gives 25.6 thousand million codes. Such a code opens a conversation to whoever writes it: it can't be guessed within the
// minutes that it is valid.
const linkLen = 8

// NewLinkCode returns a random code for joining a conversation, in two groups of four: "7Q4K-93AD".
func NewLinkCode() string {
	var b [linkLen]byte
	for i := range b {
		b[i] = codeLetters[draw(len(codeLetters))]
	}
	return string(b[:linkLen/2]) + "-" + string(b[linkLen/2:])
}

// ReadLinkCode returns the letters of a code as NewLinkCode wrote it, from what a person typed or pasted; ok is false for what can't be
// one.
func ReadLinkCode(typed string) (code string, ok bool) {
	code = strings.ToUpper(strings.Trim(typed, " \t\r\n`*_.,"))
	code = strings.NewReplacer("-", "", "\u2010", "", "\u2011", "", "\u2013", "", " ", "").Replace(code)
	return code, len(code) == linkLen && strings.Trim(code, codeLetters) == ""
}

// draw returns a number below n, each as likely as the others.
func draw(n int) int {
	for {
		var b [1]byte
		_, _ = rand.Read(b[:]) // never fails
		if top := 256 - 256%n; int(b[0]) < top {
			return int(b[0]) % n
		}
	}
}

// ReadCode returns a code as NewCode wrote it, from what a person typed; ok is false for what can't be one.
func ReadCode(typed string) (code string, ok bool) {
	code = strings.ToUpper(strings.TrimSpace(typed))
	return code, len(code) == codeLen && strings.Trim(code, codeLetters) == ""
}
