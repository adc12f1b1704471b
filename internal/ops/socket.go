package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// socketName is the admin socket's file name.
const socketName = "orebot.sock"

// maxSocketPath is how long the path of a socket may be (unix(7): sun_path has 108 bytes, with a NUL at the end).
const maxSocketPath = 107

// SocketPlace is where a daemon makes its admin socket: at $OREBOT_SOCKET, else in systemd's runtime directory, else in the state
// directory, or where that has too long a name in $XDG_RUNTIME_DIR.
func SocketPlace(stateDir string, getenv func(string) string) string {
	if p := getenv("OREBOT_SOCKET"); p != "" {
		return p
	}
	if dir := firstDir(getenv("RUNTIME_DIRECTORY")); dir != "" {
		return filepath.Join(dir, socketName)
	}
	own := filepath.Join(stateDir, socketName)
	if dir := getenv("XDG_RUNTIME_DIR"); len(own) > maxSocketPath && dir != "" {
		return filepath.Join(dir, "orebot", socketName)
	}
	return own
}

// SocketPlaces are where a daemon's admin socket may be, in the order in which they are tried. A named one excludes the others.
func SocketPlaces(named, stateDir string, getenv func(string) string) []string {
	if named == "" {
		named = getenv("OREBOT_SOCKET")
	}
	if named != "" {
		return []string{named}
	}
	var out []string
	if dir := firstDir(getenv("RUNTIME_DIRECTORY")); dir != "" {
		out = append(out, filepath.Join(dir, socketName))
	}
	out = append(out, "/run/orebot/"+socketName)
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		out = append(out, filepath.Join(dir, "orebot", socketName))
	}
	return append(out, filepath.Join(stateDir, socketName))
}

// firstDir returns the first of the directories that systemd may name.
func firstDir(list string) string {
	dir, _, _ := strings.Cut(list, ":")
	return dir
}

// Socket is an admin socket that is listened on.
type Socket struct {
	net.Listener
	path string
	own  os.FileInfo
}

// ListenSocket makes the admin socket, for its owner alone, in place of one that a killed daemon left. Where a daemon listens, it is
// left alone, and that is an error.
func ListenSocket(ctx context.Context, path string) (*Socket, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("admin socket %s: the path is longer than the system takes; set $OREBOT_SOCKET to a shorter one", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	if err := vacant(ctx, path); err != nil {
		return nil, err
	}
	// The name is taken by a rename, so that nobody finds a socket there that is open to others, or none.
	temp := fmt.Sprintf("%s.%d", path[:min(len(path), maxSocketPath-12)], os.Getpid())
	_ = os.Remove(temp)
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", temp)
	if err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	s := &Socket{Listener: ln, path: path}
	err = os.Chmod(temp, 0o600)
	if err == nil {
		s.own, err = os.Lstat(temp)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, errors.Join(fmt.Errorf("admin socket %s: %w", path, err), ln.Close())
	}
	return s, nil
}

// vacant reports that nobody listens at path, and nothing but a socket is there.
func vacant(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("admin socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("admin socket %s: there is a file of that name; remove it, or set $OREBOT_SOCKET", path)
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil // left by a daemon that was killed
	}
	_ = conn.Close()
	return fmt.Errorf("admin socket %s: another daemon listens there; stop it, or set $OREBOT_SOCKET", path)
}

// Path returns where the socket is.
func (s *Socket) Path() string { return s.path }

// Close stops listening, and removes the socket unless another daemon's has taken its place.
func (s *Socket) Close() error {
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.own) {
		_ = os.Remove(s.path)
	}
	return s.Listener.Close()
}
