package ops

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"orebot/core/observe"
	"orebot/internal/secret"
)

const token = "xoxb-1234567890-abcdefghij"

func TestFormats(t *testing.T) {
	cases := []struct{ format, want string }{
		{FormatTint, `^\d\d:\d\d:\d\d WRN it is so err="a ␛\[2J b⏎c" n=1 g.k=v\n$`},
		{FormatJournal, `^<4>it is so err="a ␛\[2J b⏎c" n=1 g.k=v\n$`},
		{FormatJSON, `^{"time":"[^"]+","level":"WARN","msg":"it is so","err":"a \\u001b\[2J b\\nc","n":1,"g":{"k":"v"}}\n$`},
		{"auto", `^{"time"`},
		{"xml", `^{"time"`},
	}
	for _, c := range cases {
		var b bytes.Buffer
		log, _ := NewLogger(&b, c.format, "info", nil)
		log.Debug("not this")
		log.Warn("it is so", observe.KeyError, errors.New("a \x1b[2J b\nc"), "n", 1, slog.Group("g", "k", "v"))
		if !regexp.MustCompile(c.want).MatchString(b.String()) {
			t.Errorf("%s: %q", c.format, b.String())
		}
	}
}

func TestPriorities(t *testing.T) {
	var b bytes.Buffer
	log, lv := NewLogger(&b, FormatJournal, "debug", nil)
	log.Debug("d")
	log.Info("i\nj")
	log.Warn("w > x")
	log.With("a", 1).WithGroup("g").Error("e", "level", slog.LevelInfo)
	lv.Set(slog.LevelError)
	log.Warn("not this")
	if want := "<7>d\n<6>i⏎j\n<4>w > x\n<3>e a=1 g.level=INFO\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// TestNoSecretInALine hides a token in every place of a record.
func TestNoSecretInALine(t *testing.T) {
	odd := `k"ey/with <odd> letters`
	r := secret.NewRedactor(secret.New(odd))
	for _, format := range []string{FormatTint, FormatJournal, FormatJSON} {
		var b bytes.Buffer
		log, _ := NewLogger(&b, format, "debug", r)
		for _, s := range []string{token, odd} {
			log.Info("m "+s, "k", s, s, "v", "e", fmt.Errorf("x: %w", errors.New(s)), "b", []byte(s), "any", struct{ A string }{s})
			log.With("w", s).WithGroup(s).Info("m", "m", map[string]string{s: s}, "s", secret.New(s), "l", []string{s})
		}
		for _, bad := range []string{"1234567890", "odd", "letters"} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("%s: %s", format, b.String())
			}
		}
		if n := strings.Count(b.String(), "\n"); n != 4 {
			t.Errorf("%s: %d lines", format, n)
		}
	}
}

func TestJournalIsKnownByItsInode(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	for value, want := range map[string]string{
		fmt.Sprintf("%d:%d", st.Dev, st.Ino):   FormatJournal,
		fmt.Sprintf("%d:%d", st.Dev, st.Ino+1): FormatJSON,
		"":                                     FormatJSON,
	} {
		t.Setenv("JOURNAL_STREAM", value)
		if got := resolveFormat(f, FormatAuto); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func TestComplaints(t *testing.T) {
	err := errors.New("a is wrong\nb holds " + token)
	var b bytes.Buffer
	Complain(&b, err)
	if want := "orebot: a is wrong\nb holds [redacted]\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
	path := filepath.Join(t.TempDir(), "stream")
	f, e := os.Create(path)
	if e != nil {
		t.Fatal(e)
	}
	defer f.Close()
	info, e := f.Stat()
	if e != nil {
		t.Fatal(e)
	}
	st := info.Sys().(*syscall.Stat_t)
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", st.Dev, st.Ino))
	Complain(f, err)
	got, e := os.ReadFile(path)
	if want := "<3>orebot: a is wrong\n<3>b holds [redacted]\n"; e != nil || string(got) != want {
		t.Errorf("in the journal: %q, %v", got, e)
	}
}

func TestParseLevel(t *testing.T) {
	if l, err := ParseLevel("Warn"); err != nil || l != slog.LevelWarn {
		t.Errorf("got %v, %v", l, err)
	}
	if _, err := ParseLevel("loud"); err == nil || err.Error() != `"loud" is not one of debug, info, warn, error` {
		t.Errorf("got %v", err)
	}
}

func TestJSONWritesDurationsAsSeconds(t *testing.T) {
	var b bytes.Buffer
	log, _ := NewLogger(&b, FormatJSON, "info", nil)
	log.Info("done", "took", 1500*time.Millisecond)
	if !strings.Contains(b.String(), `"took":1.5`) {
		t.Errorf("%s", b.String())
	}
}
