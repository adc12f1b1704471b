package ops

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"orebot/internal/secret"
)

// notifySocket opens a socket where $NOTIFY_SOCKET points to.
func notifySocket(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(short(t), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

func datagram(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	buf := make([]byte, 4096)
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestDatagrams(t *testing.T) {
	conn := notifySocket(t)
	t.Setenv("WATCHDOG_USEC", strconv.Itoa(int(time.Hour/time.Microsecond)))
	t.Setenv("WATCHDOG_PID", "")
	s, err := NewSystemd(secret.NewRedactor(secret.New("hunter22")))
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error, want string) {
		t.Helper()
		if got := datagram(t, conn); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	check(s.Ready("2 platforms"), "READY=1\nSTATUS=2 platforms")
	check(s.Status("a\nREADY=1\n hunter22"), "STATUS=a READY=1 [redacted]")
	check(s.Stopping("one turn"), "STOPPING=1\nSTATUS=one turn")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Watch(ctx, func() error { return nil }) }()
	check(nil, "WATCHDOG=1")
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
}

func TestWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	s, err := NewSystemd(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Ready("x"), s.Status("x"), s.Stopping("x")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Watch(ctx, func() error { t.Error("asked without a watchdog"); return nil }); err != nil {
		t.Error(err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	if s.Status("x") == nil {
		t.Error("a lost socket is no error")
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if _, err := NewSystemd(nil); err == nil {
		t.Error("WATCHDOG_USEC=soon was taken")
	}
}

// TestWatchdogFallsSilentWithTheDaemon counts pings: at once and at half the time, none while it isn't alive.
func TestWatchdogFallsSilentWithTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pings []time.Duration
		start := time.Now()
		s := &Systemd{every: 30 * time.Second, send: func(string) error {
			pings = append(pings, time.Since(start))
			return errors.New("lost")
		}}
		alive := func() error {
			if d := time.Since(start); d > 40*time.Second && d < 100*time.Second {
				return errors.New("stuck")
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 125*time.Second)
		defer cancel()
		if err := s.Watch(ctx, alive); err != nil {
			t.Error(err)
		}
		want := []time.Duration{0, 30 * time.Second, 120 * time.Second}
		if len(pings) != 3 || pings[0] != want[0] || pings[1] != want[1] || pings[2] != want[2] {
			t.Errorf("got %v", pings)
		}
	})
}
