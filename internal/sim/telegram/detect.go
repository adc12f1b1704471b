package telegram

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Patterns of what Telegram marks in a text by itself. They run in this order; what overlaps an earlier find is dropped.
var patterns = []struct {
	kind string
	re   *regexp.Regexp
}{
	{"email", regexp.MustCompile(`[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`)},
	{"url", regexp.MustCompile(`(?i)(https?|ftp|tg|ton)://[^\s<>"]+`)},
	{"url", regexp.MustCompile(`[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)+(:\d+)?([/?#][^\s<>"]*)?`)},
	{"mention", regexp.MustCompile(`@[A-Za-z0-9_]{4,32}`)},
	{"bot_command", regexp.MustCompile(`/[A-Za-z0-9_]{1,64}(@[A-Za-z0-9_]{3,32})?`)},
	{"hashtag", regexp.MustCompile(`#[\p{L}\p{N}_]*[\p{L}_][\p{L}\p{N}_]*`)},
	{"cashtag", regexp.MustCompile(`\$[A-Z]{3,8}`)},
}

// topLevels are the domains that a bare host needs to become a link. The list holds the common ones, and those that are
// also endings of file names, which is why README.md and foo.py turn into links.
var topLevels = strings.Fields("com org net edu gov info io dev app ai co me tv uk de fr es it nl pl ru ua eu us ca jp cn " +
	"in br ch at se museum рф md py rs sh zip mov pl cc pm so ps ml")

// detect finds what Telegram marks by itself, in the order of the text. Offsets count UTF-16 units.
func detect(text string) []Entity {
	type span struct{ from, to int }
	var taken []span
	var out []Entity
	for _, p := range patterns {
		for _, m := range p.re.FindAllStringIndex(text, -1) {
			at := span{m[0], m[1]}
			if p.kind == "url" {
				at.to = at.from + len(trimURL(text[at.from:at.to]))
			}
			clash := slices.ContainsFunc(taken, func(s span) bool { return s.from < at.to && at.from < s.to })
			if clash || !fits(p.kind, text, at.from, at.to) {
				continue
			}
			taken = append(taken, at)
			out = append(out, Entity{Type: p.kind, Offset: units(text[:at.from]), Length: units(text[at.from:at.to])})
		}
	}
	sortEntities(out)
	return out
}

// fits looks at what stands before and behind a find, and into it.
func fits(kind, text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	switch kind {
	case "bot_command":
		return !wordy(before) && !strings.ContainsRune("/<>", before) && !wordy(after) && !strings.ContainsRune("/<>@", after)
	case "url":
		return before != '@' && before != '.' && before != '/' && linkable(text[from:to])
	case "email":
		return linkable(text[from:to])
	}
	return !wordy(before) && !wordy(after)
}

func wordy(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// linkable tells whether a found address has a host that Telegram believes in: an IP address, or a known top level.
func linkable(address string) bool {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	} else if s := lowerASCII(scheme); s == "tg" || s == "ton" {
		return true
	}
	host := rest[strings.IndexByte(rest, '@')+1:]
	if i := strings.IndexAny(host, ":/?#"); i >= 0 {
		host = host[:i]
	}
	labels := strings.Split(host, ".")
	if len(labels) < 2 || slices.Contains(labels, "") {
		return false
	}
	return numeric(labels) || slices.Contains(topLevels, strings.ToLower(labels[len(labels)-1]))
}

func numeric(labels []string) bool {
	return len(labels) == 4 && !slices.ContainsFunc(labels, func(l string) bool {
		return strings.Trim(l, "0123456789") != "" || len(l) > 3
	})
}

// trimURL cuts off what belongs to the sentence: closing punctuation, and a closing bracket without its opening one.
func trimURL(s string) string {
	for s != "" {
		last := s[len(s)-1]
		unpaired := last == ')' && strings.Count(s, ")") > strings.Count(s, "(")
		if !unpaired && strings.IndexByte(`.,:;!?'"`, last) < 0 {
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// addDetected adds what Telegram marks by itself to entities that the sender gave, which win.
func addDetected(text string, given []Entity) []Entity {
	out := slices.Clone(given)
	for _, d := range detect(text) {
		clash := slices.ContainsFunc(given, func(g Entity) bool {
			return !g.isStyle() && !g.isQuote() && d.Offset < g.End() && g.Offset < d.End()
		})
		if !clash {
			out = append(out, d)
		}
	}
	sortEntities(out)
	return out
}
