package mcp

import (
	"bytes"
	"log/slog"
	"strings"

	"orebot/core/observe"
	"orebot/internal/secret"
)

// Limits of what is logged of what a command says, on stderr or between its messages.
const (
	maxLine  = 1 << 10 // bytes of one line
	maxLines = 1000    // of one life; the rest is counted
)

// lines writes what a command says to the log at debug level, line by line.
type lines struct {
	log     *slog.Logger
	redact  *secret.Redactor
	rest    []byte // of a line that hasn't ended
	skip    bool   // until the line's end
	margin  int    // as long as the longest secret
	written int
}

// said takes what a command says that is no message.
func (s *Server) said() *lines {
	return &lines{log: s.log, redact: s.redact, margin: longest(s.cfg.Env)}
}

// Write never fails: a command must not be held up or ended by what it says.
func (l *lines) Write(p []byte) (int, error) {
	for _, piece := range bytes.SplitAfter(p, []byte("\n")) {
		if !l.skip {
			l.rest = append(l.rest, piece[:min(len(piece), maxLine+1-min(len(l.rest), maxLine+1))]...)
		}
		ended := bytes.HasSuffix(piece, []byte("\n"))
		if ended || !l.skip && len(l.rest) > maxLine {
			switch {
			case l.skip:
			case ended:
				l.say(l.rest)
			default: // the cut may go through a secret, which then isn't recognised
				l.say(l.rest[:max(0, len(l.rest)-l.margin)])
			}
			l.rest, l.skip = l.rest[:0], !ended
		}
	}
	return len(p), nil
}

func (l *lines) say(line []byte) {
	text := strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD"))
	if l.written++; text == "" || l.written > maxLines+1 {
		return
	}
	if l.written > maxLines {
		text = "it says much; no more of it is logged"
	}
	l.log.Debug("mcp server says", observe.KeyText, l.redact.Redact(text))
}

func longest(env map[string]secret.String) (n int) {
	for _, v := range env {
		n = max(n, len(v.Reveal()))
	}
	return n
}
