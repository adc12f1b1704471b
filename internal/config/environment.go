package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Environment is what Load sees of the process and its files, so that a test can give it another.
type Environment struct {
	Getenv   func(name string) string
	Unsetenv func(name string) error
	ReadFile func(path string) ([]byte, error)
	Stat     func(path string) (fs.FileInfo, error)
}

// OS returns the Environment of this process.
func OS() Environment {
	return Environment{Getenv: os.Getenv, Unsetenv: os.Unsetenv, ReadFile: os.ReadFile, Stat: os.Stat}
}

// place is where a file may be. A named one must be there.
type place struct {
	path  string
	named bool
}

// places lists where the configuration may be, the first existing one counts. A path from the command line excludes
// all others, and so does $OREBOT_CONFIG.
func (e Environment) places(path string) []place {
	if path != "" {
		return []place{{path, true}}
	}
	if p := e.Getenv("OREBOT_CONFIG"); p != "" {
		return []place{{p, true}}
	}
	var out []place
	if dir := firstOf(e.Getenv("CONFIGURATION_DIRECTORY")); dir != "" {
		out = append(out, place{path: filepath.Join(dir, "config.toml")})
	}
	if dir := e.xdg("XDG_CONFIG_HOME", ".config"); dir != "" {
		out = append(out, place{path: filepath.Join(dir, "orebot", "config.toml")})
	}
	return append(out, place{path: "/etc/orebot/config.toml"})
}

// stateDir returns the default place of the state and where that came from; "" if the environment names none.
func (e Environment) stateDir() (string, Source) {
	if dir := firstOf(e.Getenv("STATE_DIRECTORY")); dir != "" {
		return dir, Source{FromEnv, "STATE_DIRECTORY"}
	}
	if dir := e.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "orebot"), Source{FromEnv, "XDG_STATE_HOME"}
	}
	if dir := e.xdg("XDG_STATE_HOME", ".local/state"); dir != "" {
		return filepath.Join(dir, "orebot"), Source{}
	}
	return "", Source{}
}

// xdg returns the directory that a variable of the XDG specification names, or its default below $HOME.
func (e Environment) xdg(name, underHome string) string {
	if dir := e.Getenv(name); dir != "" {
		return dir
	}
	if home := e.Getenv("HOME"); home != "" {
		return filepath.Join(home, underHome)
	}
	return ""
}

// firstOf returns the first of the directories that systemd joins with colons.
func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ":")
	return first
}
