package ops

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"orebot/internal/config"
)

func unitFile(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../systemd/orebot.service")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// verifiable writes a copy of the unit whose program exists everywhere.
func verifiable(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze isn't installed")
	}
	text := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/orebot run$`).ReplaceAllString(unitFile(t), "ExecStart=/bin/true")
	if !strings.Contains(text, "ExecStart=/bin/true") {
		t.Fatal("ExecStart isn't what it should be")
	}
	path := filepath.Join(t.TempDir(), "orebot.service")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnitIsValid(t *testing.T) {
	out, err := exec.Command("systemd-analyze", "verify", verifiable(t)).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUnitIsHardened(t *testing.T) {
	path := verifiable(t)
	out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", path).CombinedOutput()
	if strings.Contains(string(out), "unrecognized option") {
		t.Skip("this systemd-analyze is too old to look at a file")
	}
	m := regexp.MustCompile(`exposure level[^:]*: ([0-9.]+)`).FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if exposure, err := strconv.ParseFloat(string(m[1]), 64); err != nil || exposure > 2 {
		t.Errorf("exposure %s\n%s", m[1], out)
	}
}

func TestUnitFitsTheDaemon(t *testing.T) {
	text := unitFile(t)
	setting := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s is missing", name)
		}
		return m[1]
	}
	for name, want := range map[string]string{"Type": "notify", "RestartPreventExitStatus": "2 3", "StateDirectory": "orebot",
		"RuntimeDirectory": "orebot", "ConfigurationDirectory": "orebot", "Restart": "on-failure"} {
		if got := setting(name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	stop, err := time.ParseDuration(setting("TimeoutStopSec"))
	if grace := config.Default().ShutdownGrace.D(); err != nil || stop < grace+10*time.Second {
		t.Errorf("TimeoutStopSec=%s (%v) leaves no room above %s", stop, err, grace)
	}
	if w, err := time.ParseDuration(setting("WatchdogSec")); err != nil || w < 10*time.Second {
		t.Errorf("WatchdogSec=%s, %v", w, err)
	}
}
