package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orebot/internal/ops"
	"orebot/internal/secret"
)

// TestCheckAsksTheDaemon: what only a running daemon knows, each trouble with a line. Where none runs, nothing is said of it.
func TestCheckAsksTheDaemon(t *testing.T) {
	health := ops.NewHealth(time.Now, time.Hour)
	redactor := secret.NewRedactor(secret.New("xoxb-12345-secret"))
	admin := &ops.Admin{Access: &ops.Access{}, Queue: &ops.Queue{}, Health: health, Redactor: redactor, Logger: slog.New(slog.DiscardHandler)}
	dir, err := os.MkdirTemp("/tmp", "check") // a socket's name may not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	socket, err := ops.ListenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	mux := ops.Handler(health, ops.NewMetrics(), redactor)
	admin.Register(mux)
	go func() { _ = ops.Serve(t.Context(), socket, mux, admin.Logger) }()

	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"ready", func() {}, "✓ daemon: it runs, and is ready\n"},
		{"a note", func() { health.Note("slack", "connections", "another process takes its events") },
			"✗ daemon: slack: another process takes its events\n"},
		{"not ready", func() {
			health.Note("slack", "connections", "")
			health.Set("slack", false, "Slack says link_disabled to xoxb-12345-secret")
		}, "✗ daemon: slack: Slack says link_disabled to [redacted]\n"},
	}
	for _, s := range steps {
		s.do()
		var out bytes.Buffer
		r := &report{w: &out}
		r.daemon(t.Context(), []string{filepath.Join(t.TempDir(), "none"), path})
		if out.String() != s.want || r.bad != (s.name != "ready") {
			t.Errorf("%s: %v %q, want %q", s.name, r.bad, out.String(), s.want)
		}
	}
	var out bytes.Buffer
	if (&report{w: &out}).daemon(t.Context(), []string{filepath.Join(t.TempDir(), "none")}); out.Len() > 0 {
		t.Errorf("of none: %q", out.String())
	}
}
