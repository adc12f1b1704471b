package ops

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"orebot/core/observe"
	"orebot/internal/secret"
)

// The formats of the log.
const (
	FormatAuto    = "auto"    // FormatTint on a terminal, FormatJournal under systemd, else FormatJSON
	FormatTint    = "tint"    // for people; in colour on a terminal, unless NO_COLOR is set
	FormatJournal = "journal" // lines that begin with the priority, as sd-daemon(3) has it
	FormatJSON    = "json"    // one object a line
)

// NewLogger returns a logger that writes to w, and the level it starts with, which may be changed at any time. Every
// line passes the redactor as a whole: messages, keys, values and errors alike. An unknown format is FormatAuto, an
// unknown level info.
func NewLogger(w io.Writer, format, level string, r *secret.Redactor) (*slog.Logger, *slog.LevelVar) {
	lv := &slog.LevelVar{}
	if l, err := ParseLevel(level); err == nil {
		lv.Set(l)
	}
	return slog.New(handler(w, format, lv, r)), lv
}

// ParseLevel reads debug, info, warn or error.
func ParseLevel(s string) (slog.Level, error) {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(s, l.String()) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("%q is not one of debug, info, warn, error", s)
}

func handler(w io.Writer, format string, lv slog.Leveler, r *secret.Redactor) slog.Handler {
	safe := redactingWriter{w, r}
	switch resolveFormat(w, format) {
	case FormatTint:
		colour := isTerminal(w) && os.Getenv("NO_COLOR") == ""
		return tint.NewTextHandler(safe, &tint.Options{Level: lv, NoColor: !colour, TimeFormat: time.TimeOnly, ReplaceAttr: forTerminal})
	case FormatJournal:
		return tint.NewTextHandler(priorityWriter{safe}, &tint.Options{Level: lv, NoColor: true, ReplaceAttr: forJournal})
	default:
		return slog.NewJSONHandler(safe, &slog.HandlerOptions{Level: lv, ReplaceAttr: forJSON})
	}
}

// forJSON writes durations as seconds, as the figures have them.
func forJSON(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

func resolveFormat(w io.Writer, format string) string {
	switch format {
	case FormatTint, FormatJournal, FormatJSON:
		return format
	}
	switch {
	case isJournal(w):
		return FormatJournal
	case isTerminal(w):
		return FormatTint
	}
	return FormatJSON
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isJournal reports whether w is the stream that systemd connected to the journal: $JOURNAL_STREAM holds its device and
// inode (systemd.exec(5)). A child whose output was redirected inherits the variable, hence the comparison.
func isJournal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// Complain says on w why a command ends, line by line, without what looks like a token: somebody may have typed one in the wrong
// place. In the journal each line has the priority of an error, so that journalctl -p err shows it.
func Complain(w io.Writer, err error) {
	prefix := ""
	if isJournal(w) {
		prefix = priority(slog.LevelError)
	}
	for line := range strings.Lines("orebot: " + (*secret.Redactor)(nil).Redact(err.Error())) {
		fmt.Fprintln(w, prefix+strings.TrimSuffix(line, "\n"))
	}
}

// redactingWriter cleans what a handler wrote. Handlers write a record in one call, so no secret is cut in two.
type redactingWriter struct {
	w io.Writer
	r *secret.Redactor
}

func (w redactingWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// priorityWriter removes the space that stands between the priority and the message.
type priorityWriter struct{ w io.Writer }

func (w priorityWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.w, strings.Replace(string(line), "> ", ">", 1)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// forTerminal keeps texts of others from steering the terminal, and colours errors.
func forTerminal(_ []string, a slog.Attr) slog.Attr {
	a = printable(a)
	if a.Key == observe.KeyError {
		return tint.Attr(9, a)
	}
	return a
}

// forJournal drops the time, which the journal knows, and turns the level into a priority.
func forJournal(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return printable(a)
	}
	switch l, isLevel := a.Value.Any().(slog.Level); {
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return slog.Attr{}
	case a.Key == slog.LevelKey && isLevel:
		return slog.String(slog.LevelKey, priority(l))
	}
	return printable(a)
}

func priority(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "<3>"
	case l >= slog.LevelWarn:
		return "<4>"
	case l >= slog.LevelInfo:
		return "<6>"
	}
	return "<7>"
}

// printable takes escape characters and line breaks out of texts. In colour, tint hands an escape through, and makes one of the
// four letters that spell it in Go.
func printable(a slog.Attr) slog.Attr {
	if k := a.Value.Kind(); k != slog.KindString && k != slog.KindAny {
		return a
	}
	if _, id := a.Value.Any().(encoding.TextMarshaler); id {
		return a
	}
	return slog.String(a.Key, escapes.Replace(fmt.Sprintf("%+v", a.Value.Any())))
}

var escapes = strings.NewReplacer("\x1b", "␛", `\x1b`, `\x1B`, "\n", "⏎", "\r", "")
