package ops

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// short returns a directory whose name leaves room for that of a socket.
func short(t *testing.T) string {
	t.Helper()
	where := ""
	if len(os.TempDir()) > 60 {
		where = "/tmp"
	}
	dir, err := os.MkdirTemp(where, "ops")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func listenAt(t *testing.T, path string) *Socket {
	t.Helper()
	s, err := ListenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serveAt answers requests at a socket until the test ends.
func serveAt(t *testing.T, path string, h http.Handler) {
	t.Helper()
	s := listenAt(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, s, h, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestTheSocketIsTheOwnersAlone(t *testing.T) {
	path := filepath.Join(short(t), "sub", "orebot.sock")
	s := listenAt(t, path)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v, %v", entries, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

func TestALiveSocketIsRespectedAndADeadOneReplaced(t *testing.T) {
	path := filepath.Join(short(t), "orebot.sock")
	first := listenAt(t, path)
	if _, err := ListenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another daemon listens there") {
		t.Errorf("beside a live one: %v", err)
	}
	if err := first.Listener.Close(); err != nil { // as kill -9 leaves it: the file is there, and nobody listens
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the dead socket: %v", err)
	}
	second := listenAt(t, path)
	_ = first.Close() // the one that lost its place takes nothing away
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the second daemon's socket: %v", err)
	}
	_ = conn.Close()
	_ = second.Close()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "there is a file of that name") {
		t.Errorf("in place of a file: %v", err)
	}
	if _, err := ListenSocket(t.Context(), "/tmp/"+strings.Repeat("x", 200)); err == nil || !strings.Contains(err.Error(), "OREBOT_SOCKET") {
		t.Errorf("at a path too long: %v", err)
	}
}

func TestSocketPlaces(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		}
	}
	all := env("RUNTIME_DIRECTORY", "/run/a:/run/b", "XDG_RUNTIME_DIR", "/run/user/1")
	long := "/" + strings.Repeat("d", 120)
	for _, c := range []struct {
		got, want []string
	}{
		{SocketPlaces("", "/s", all), []string{"/run/a/orebot.sock", "/run/orebot/orebot.sock", "/run/user/1/orebot/orebot.sock", "/s/orebot.sock"}},
		{SocketPlaces("", "/s", env()), []string{"/run/orebot/orebot.sock", "/s/orebot.sock"}},
		{SocketPlaces("/x", "/s", all), []string{"/x"}},
		{SocketPlaces("", "/s", env("OREBOT_SOCKET", "/y", "RUNTIME_DIRECTORY", "/run/a")), []string{"/y"}},
		{SocketPlaces("/x", "/s", env("OREBOT_SOCKET", "/y")), []string{"/x"}},
		{[]string{SocketPlace("/s", all)}, []string{"/run/a/orebot.sock"}},
		{[]string{SocketPlace("/s", env("XDG_RUNTIME_DIR", "/run/user/1"))}, []string{"/s/orebot.sock"}},
		{[]string{SocketPlace(long, env("XDG_RUNTIME_DIR", "/run/user/1"))}, []string{"/run/user/1/orebot/orebot.sock"}},
		{[]string{SocketPlace("/s", env("OREBOT_SOCKET", "/y"))}, []string{"/y"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestConnectSaysWhatItTried(t *testing.T) {
	dir := short(t)
	dead, live := filepath.Join(dir, "dead.sock"), filepath.Join(dir, "live.sock")
	_ = listenAt(t, dead).Listener.Close()
	_, err := Connect(t.Context(), []string{"/nowhere/orebot.sock", dead})
	var none *NotRunning
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "/nowhere/orebot.sock (no such file or directory)") ||
		!strings.Contains(err.Error(), dead+" (connection refused)") {
		t.Errorf("error %v", err)
	}
	serveAt(t, live, Handler(NewHealth(time.Now, time.Hour), NewMetrics(), nil))
	c, err := Connect(t.Context(), []string{dead, live})
	if err != nil {
		t.Fatal(err)
	}
	var ready Readiness
	if err := c.Call(t.Context(), "/readyz", nil, &ready); err != nil || !ready.Ready {
		t.Errorf("%+v, %v", ready, err)
	}
	if err := c.Call(t.Context(), "/v1/nothing", nil, nil); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("a route that isn't there: %v", err)
	}
}
