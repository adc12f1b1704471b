package telegram

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fileEndings are the endings of file names that are top-level domains too: Telegram makes a link of README.md, to a host that
// nobody meant (its own parser was asked, see oracle_test.go). What is a domain before it is a file, such as .io or .app, isn't
// among them.
var fileEndings = strings.Fields("md py rs sh zip mov pl cc pm so ps ml java mm mk map pid target pub tf fish properties la")

// fileNameIn returns where the first file name in a text lies that Telegram would make a link of; from is -1 where there is none. A
// path before it, such as ./ or ~/, belongs to it: Telegram would make a command of its end.
func fileNameIn(s string) (from, to int) {
	for dot := 0; ; {
		i := strings.IndexByte(s[dot:], '.')
		if i < 0 {
			return -1, 0
		}
		dot += i + 1
		if to = endingAt(s, dot); to < 0 {
			continue
		}
		if from = nameBefore(s, dot-1); from >= 0 {
			return from, to
		}
	}
}

// endingAt returns the end of the file ending that begins at i, or -1.
func endingAt(s string, i int) int {
	end := i
	for end < len(s) && end-i < 12 && nameRune(rune(s[end])) {
		end++
	}
	r, _ := utf8.DecodeRuneInString(s[end:])
	if end == i || wordRune(r) || r == '-' || r == '/' || r == '@' || r == '.' && end+1 < len(s) && nameRune(rune(s[end+1])) {
		return -1
	}
	ending := strings.ToLower(s[i:end])
	for _, e := range fileEndings {
		if e == ending {
			return end
		}
	}
	return -1
}

// maxFileName is how far back a file name is looked for, in bytes.
const maxFileName = 120

// nameBefore returns where the name begins whose ending's dot is at i, or -1 where it is part of something else.
func nameBefore(s string, i int) int {
	from := i
	for from > 0 && i-from < maxFileName {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		if !wordRune(r) && !strings.ContainsRune("-./~", r) || r == utf8.RuneError {
			break
		}
		from -= size
	}
	name := s[from:i]
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	switch {
	case name == "" || strings.ContainsRune("@:=&?%#+", before) && from > 0, strings.Contains(name, "//"), i-from >= maxFileName:
		return -1
	case !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return -1
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !strings.HasPrefix(name, "~/"):
		return -1 // Telegram finds no host in a path
	}
	return from
}

// marks is about how many entities Telegram adds to a text by itself, one in each word that has the look of an address, a tag or an
// amount. They count like others, and of more than a hundred the rest are dropped.
func marks(s string) int {
	n, seen := 0, false
	prior, last := ' ', ' '
	for _, r := range s {
		host := last == '.' && wordRune(prior) && unicode.IsLetter(r)
		tag := (last == '#' || last == '$') && !wordRune(prior) && wordRune(r)
		switch {
		case r == ' ':
			seen = false
		case (host || tag || last == '/' && prior == ':') && !seen:
			n, seen = n+1, true
		}
		prior, last = last, r
	}
	return n
}
