package config_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"orebot/internal/config"
)

const (
	file     = "/etc/orebot/config.toml"
	xoxb     = "xoxb-111-222-aaaaaaaa"
	xapp     = "xapp-1-A1-333-bbbbbbbb"
	tgToken  = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
	secretly = "telegram.bot_token"
)

// world is an environment in memory.
type world struct {
	vars  map[string]string
	files fstest.MapFS
}

func newWorld(vars ...string) *world {
	w := &world{vars: map[string]string{"HOME": "/home/ore"}, files: fstest.MapFS{}}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		w.vars[name] = value
	}
	return w
}

func (w *world) put(path, text string, mode fs.FileMode) *world {
	w.files[strings.TrimPrefix(path, "/")] = &fstest.MapFile{Data: []byte(text), Mode: mode}
	return w
}

func (w *world) env() config.Environment {
	return config.Environment{
		Getenv:   func(name string) string { return w.vars[name] },
		Unsetenv: func(name string) error { delete(w.vars, name); return nil },
		ReadFile: func(path string) ([]byte, error) { return w.files.ReadFile(strings.TrimPrefix(path, "/")) },
		Stat:     func(path string) (fs.FileInfo, error) { return w.files.Stat(strings.TrimPrefix(path, "/")) },
	}
}

// load loads and wants no error.
func (w *world) load(t *testing.T, path string) (*config.Config, config.Sources) {
	t.Helper()
	cfg, src, err := config.Load(path, w.env())
	if err != nil {
		t.Fatal(err)
	}
	return cfg, src
}
