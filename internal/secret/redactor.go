package secret

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// minLength is the length from which a known secret is replaced wherever it stands. A shorter one would take ordinary
// words apart and protects nothing.
const minLength = 4

// shape is a kind of secret that is recognised without knowing it. The pattern runs only on texts that hold the hint.
type shape struct {
	hint    string
	pattern *regexp.Regexp
	with    string
}

// Redactor replaces secrets in texts: the ones it was given, and whatever looks like a token of the platforms. A nil
// Redactor knows the shapes only. It is safe for concurrent use.
type Redactor struct {
	known  *strings.Replacer
	shapes []shape
}

// NewRedactor returns a Redactor for these secrets, in each form that a URL, JSON or a quoting logger gives them.
// Unset and very short ones are left out.
func NewRedactor(secrets ...String) *Redactor {
	var forms []string
	for _, s := range secrets {
		if t := s.Reveal(); len(t) >= minLength {
			forms = append(forms, spellings(t)...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int { // the longest first: it may hold another
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, Mask)
	}
	return &Redactor{known: strings.NewReplacer(pairs...), shapes: shapes()}
}

// Redact returns text with every secret in it replaced by Mask.
func (r *Redactor) Redact(text string) string {
	if r == nil {
		r = &Redactor{shapes: shapes()}
	}
	if r.known != nil {
		text = r.known.Replace(text)
	}
	for _, s := range r.shapes {
		if strings.Contains(text, s.hint) {
			text = s.pattern.ReplaceAllString(text, s.with)
		}
	}
	return text
}

// shapes lists what tokens look like: Slack's xoxb-, xoxp-, xapp- and their kin, Telegram's number:secret (in a URL the
// colon may be escaped), the ticket of a Socket Mode address, Slack's response URLs, bearer headers, and the user and
// password of a URL.
func shapes() []shape {
	return []shape{
		{"xox", regexp.MustCompile(`xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}`), Mask},
		{"xapp-", regexp.MustCompile(`xapp-[A-Za-z0-9-]{8,}`), Mask},
		{":", regexp.MustCompile(`[0-9]+:[A-Za-z0-9_-]{30,}`), Mask},
		{"%3", regexp.MustCompile(`[0-9]+%3[Aa][A-Za-z0-9_-]{30,}`), Mask},
		{"ticket=", regexp.MustCompile(`\bticket=[^&\s"'\\<>]+`), "ticket=" + Mask},
		{"hooks.slack", regexp.MustCompile(`(hooks\.slack(?:-gov)?\.com/)[^\s"'\\<>]+`), "${1}" + Mask},
		{"hooks.slack", regexp.MustCompile(`(hooks\.slack(?:-gov)?\.com%2[Ff])[^\s"'\\<>&]+`), "${1}" + Mask},
		{"earer ", regexp.MustCompile(`([Bb]earer )[A-Za-z0-9._~+/=-]{20,}`), "${1}" + Mask},
		{"@", regexp.MustCompile(`(://)[^\s/@"'\\<>]+@`), "${1}" + Mask + "@"},
	}
}

// spellings lists the forms of one secret in texts.
func spellings(s string) []string {
	forms := []string{s, url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:]}
	forms = append(forms, strconv.Quote(s), strconv.QuoteToASCII(s))
	if b, err := json.Marshal(s); err == nil {
		forms = append(forms, string(b))
	}
	for i := range forms {
		if i > 3 {
			forms[i] = forms[i][1 : len(forms[i])-1]
		}
		forms = append(forms, lowerEscapes(forms[i]))
	}
	return forms
}

// lowerEscapes writes %3A as %3a, which is as valid in a URL.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}
