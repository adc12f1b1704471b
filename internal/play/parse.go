package play

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"orebot/core/session"
)

// line is one line of a play.
type line struct {
	n     int
	text  string        // as it stands there, without the time
	at    time.Duration // since the beginning
	timed bool

	who   string // "ana", "bot", "model", "tool", "post"; or the act: "edit", "delete", "kill", …
	place string // empty: the default one
	notes []string
	mark  string // of a speaker's line: ">", "<", "!", "?", "~", ":"
	rest  string
}

// script is a play, read.
type script struct {
	header map[string]string
	files  map[string]string
	lines  []line
}

var (
	timePattern   = regexp.MustCompile(`^@(\d[0-9hms.]*)\s+(.*)$`)
	linePattern   = regexp.MustCompile(`^(\w+)(?:@([\w-]+))?(?: \(([^)]*)\))?([><!?~]|:) ?(.*)$`)
	actPattern    = regexp.MustCompile(`^(edit|delete|again) (\w+#\d+)(?: \(([^)]*)\))?(?:: ?(.*))?$`)
	wordsPattern  = regexp.MustCompile(`^(kill|start|restart|wait)\b ?(.*)$`)
	escapePattern = regexp.MustCompile(`\\n|\\u[0-9a-f]{4}`)
	filePattern   = regexp.MustCompile(`^file (\S+): (.*)$`)
)

func headers() []string {
	return []string{"people", "in", "models", "queue", "concurrent", "slow", "system", "bots", "limit", "finder", "grace", "tokens", "blobs", "follow", "compact", "limits", "link"}
}

// read parses a play.
func read(text string) (*script, error) {
	s := &script{header: map[string]string{}, files: map[string]string{}}
	n := 0
	for raw := range strings.Lines(text) {
		n++
		raw = strings.TrimSpace(raw)
		if raw == "" || raw[0] == '#' {
			continue
		}
		if s.heading(raw) {
			continue
		}
		l, err := readLine(n, raw)
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, l)
	}
	if len(s.lines) == 0 || s.lines[len(s.lines)-1].who != "sum" {
		return nil, fmt.Errorf("the last line must be the sum")
	}
	return s, nil
}

// heading reads a header line.
func (s *script) heading(raw string) bool {
	if len(s.lines) > 0 {
		return false
	}
	if m := filePattern.FindStringSubmatch(raw); m != nil {
		s.files[m[1]] = unescape(m[2])
		return true
	}
	for _, key := range headers() {
		if v, ok := strings.CutPrefix(raw, key+": "); ok {
			s.header[key] = strings.TrimSpace(v)
			return true
		}
	}
	return false
}

func readLine(n int, raw string) (line, error) {
	l := line{n: n, text: raw}
	if m := timePattern.FindStringSubmatch(raw); m != nil {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return l, fmt.Errorf("line %d: %w", n, err)
		}
		l.at, l.timed, l.text = d, true, m[2]
	}
	if m := actPattern.FindStringSubmatch(l.text); m != nil {
		l.who, l.rest, l.notes = m[1], unescape(m[4]), split(m[3])
		l.notes = append([]string{m[2]}, l.notes...)
		return l, nil
	}
	if m := linePattern.FindStringSubmatch(l.text); m != nil {
		l.who, l.place, l.notes, l.mark, l.rest = m[1], m[2], split(m[3]), m[4], unescape(m[5])
		if (l.mark == ":") == (l.who == "model" || l.who == "tool" || l.who == "post" || l.who == "sum") {
			return l, nil
		}
	} else if m := wordsPattern.FindStringSubmatch(l.text); m != nil {
		l.who, l.rest = m[1], m[2]
		return l, nil
	}
	return l, fmt.Errorf("line %d isn't understood: %s", n, raw)
}

// unescape reads \n as the end of a line and \u200b as that character.
func unescape(s string) string {
	return escapePattern.ReplaceAllStringFunc(s, func(e string) string {
		if r, err := strconv.ParseUint(strings.TrimPrefix(e, `\u`), 16, 16); err == nil {
			return string(rune(r))
		}
		return "\n"
	})
}

func split(s string) (out []string) {
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// note returns what stands behind a word among the notes: "" and true for a word alone.
func (l line) note(word string) (string, bool) {
	for _, n := range l.notes {
		if n == word {
			return "", true
		}
		if v, ok := strings.CutPrefix(n, word+" "); ok {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// quotes returns the texts in quotation marks of a line, and what stands before and behind them. There are no marks inside.
func quotes(s string) (out []string, before, behind string) {
	parts := strings.Split(s, `"`)
	for i := 1; i+1 < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return out, strings.TrimSpace(parts[0]), strings.TrimSpace(parts[len(parts)-1])
}

// matches reports whether a text is what a play says: … stands for anything.
func matches(want, got string) bool {
	pieces := strings.Split(want, "…")
	for i, p := range pieces {
		pieces[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(pieces, ".*") + `$`).MatchString(got)
}

func (s *script) number(key string, otherwise int) (int, error) {
	v, ok := s.header[key]
	if !ok {
		return otherwise, nil
	}
	return strconv.Atoi(v)
}

// share is a number between 0 and 1.
func (s *script) share(key string) (float64, error) {
	v, ok := s.header[key]
	if !ok {
		return 0, nil
	}
	return strconv.ParseFloat(v, 64)
}

// limits are those of one person: "3 a minute, 2 waiting, 100 tokens a day, 40 bytes".
func (s *script) limits() (l session.Limits, err error) {
	for _, part := range split(s.header["limits"]) {
		count, what, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(count)
		switch {
		case err != nil:
			return l, err
		case what == "a minute":
			l.PerMinute = n
		case what == "waiting":
			l.Waiting = n
		case what == "tokens a day":
			l.TokensPerDay = n
		case what == "bytes":
			l.InputBytes = n
		default:
			return l, fmt.Errorf("no such limit: %s", part)
		}
	}
	return l, nil
}

func (s *script) duration(key string, otherwise time.Duration) (time.Duration, error) {
	v, ok := s.header[key]
	if !ok {
		return otherwise, nil
	}
	return time.ParseDuration(v)
}
