package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNobodyImportsWhatHeMayNot(t *testing.T) {
	root := filepath.Join("..", "..")
	if mod, err := os.ReadFile(filepath.Join(root, "go.mod")); err != nil || !strings.HasPrefix(string(mod), "module "+module+"\n") {
		t.Fatalf("%s isn't the root of the module: %v", root, err)
	}
	arrows, err := walk(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(arrows, func(a arrow) bool { return a.from == "internal/config" && a.to == "orebot/internal/secret" }) {
		t.Fatal("the walk doesn't find an arrow that is there")
	}
	for _, complaint := range check(arrows) {
		t.Error(complaint)
	}
}

func TestJudgement(t *testing.T) {
	cases := []struct{ from, to, want string }{
		{"core/artifact", "fmt", ""},
		{"core/artifact", "orebot/core/ledger", "core/artifact may not import core/ledger (it may: nothing of ours)"},
		{"core/loop", "orebot/core/provider", ""},
		{"core/loop", "orebot/core/session", "core/loop may not import core/session (it may: core/artifact, core/ledger, core/models, core/provider)"},
		{"core/loop", "go.opentelemetry.io/otel/trace", ""},
		{"core/transform/budget", "orebot/core/transform/measure", ""},
		{"core/transform/budget", "orebot/core/loop", ""},
		{"core/access", "orebot/core/loop", "core/access may not import core/loop (it may: core/ledger)"},
		{"core/session", "orebot/core/observe", ""},
		{"core/session", "orebot/core/slash", "may not"},
		{"core/session", "orebot/core/session/storetest", "core/session imports test code: core/session/storetest"},
		{"core/session", "go.etcd.io/bbolt", "core/session may not import go.etcd.io/bbolt (only: store/bolt)"},
		{"core/session", "github.com/prometheus/client_golang/prometheus", "may not"},
		{"core/session", "github.com/BurntSushi/toml", "may not"},
		{"core/provider", "github.com/ollama/ollama/api", "may not"},
		{"core/session/storetest", "orebot/store/bolt", ""},
		{"core/session/storetest", "testing", ""},
		{"core/session", "testing", "core/session may not import testing (only: test code)"},
		{"core/session", "testing/synctest", "may not"},
		{"conduit", "orebot/core/session", ""},
		{"conduit", "orebot/conduit/markup", "may not"},
		{"conduit", "orebot/internal/secret", "may not"},
		{"conduit/markup", "orebot/core/session", "may not"},
		{"conduit/markup", "github.com/yuin/goldmark/ast", ""},
		{"conduit/slack", "orebot/conduit", ""},
		{"conduit/slack", "orebot/conduit/markup", ""},
		{"conduit/slack", "orebot/core/slash", ""},
		{"conduit/slack", "orebot/internal/secret", ""},
		{"conduit/slack", "orebot/conduit/telegram", "may not"},
		{"conduit/telegram", "orebot/conduit/slack", "may not"},
		{"conduit/slack", "orebot/store/bolt", "may not"},
		{"conduit/slack", "orebot/provider/ollama", "may not"},
		{"conduit/slack", "orebot/internal/ops", "may not"},
		{"conduit/telegram", "github.com/slack-go/slack/socketmode", "may not"},
		{"conduit/slack", "github.com/slack-go/slack/socketmode", ""},
		{"provider/ollama", "orebot/internal/config", "may not"},
		{"provider/ollama", "orebot/core/models", ""},
		{"store/bolt", "go.etcd.io/bbolt/errors", ""},
		{"store/blob", "go.etcd.io/bbolt", "may not"},
		{"store/bolt", "orebot/store/blob", "may not"},
		{"internal/sim/slack", "orebot/internal/sim/fault", ""},
		{"internal/sim/slack", "orebot/core/loop", "may not"},
		{"internal/secret", "orebot/core/observe", "may not"},
		{"internal/ops", "orebot/core/session", ""},
		{"internal/ops", "orebot/cmd/orebot", "internal/ops imports a command: cmd/orebot"},
		{"cmd/orebot", "orebot/store/bolt", ""},
		{"cmd/orebot", "orebot/internal/e2e", "cmd/orebot imports test code: internal/e2e"},
		{"cmd/orebot", "go.etcd.io/bbolt", "may not"},
		{"core/sessions", "orebot/core/ledger", "core/sessions isn't in the table of internal/archtest; give it a row"},
		{"internal/e2e", "orebot/cmd/orebot", ""},
	}
	for _, c := range cases {
		got := strings.Join(check([]arrow{{c.from, c.to, "f.go"}}), "")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s -> %s: got %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// TestWalkSeesWhatCounts lays out a small tree with everything that must be left out, and one file that must not.
func TestWalkSeesWhatCounts(t *testing.T) {
	root := t.TempDir()
	file := func(path, text string) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const bad = "package x\nimport _ \"go.etcd.io/bbolt\"\n"
	file("go.mod", "module orebot\n")
	for _, path := range []string{"core/loop/x_test.go", "core/testdata/x.go", "tools/real/x.go", ".ci/x.go", "_old/x.go", "core/x.txt"} {
		file(path, bad)
	}
	file("tools/real/go.mod", "module real\n")
	file("core/loop/x_windows.go", "//go:build never\n\n"+bad)
	arrows, err := walk(root)
	if want := (arrow{"core/loop", "go.etcd.io/bbolt", "core/loop/x_windows.go"}); err != nil || !slices.Equal(arrows, []arrow{want}) {
		t.Errorf("got %v, %v", arrows, err)
	}
	file("core/loop/broken.go", "pakage x")
	if _, err := walk(root); err == nil {
		t.Error("a file that can't be read is no error")
	}
}

// TestTheDocsShowTheTable compares the rows of docs/architecture.md with the law. What a row of the docs allows is prose; which
// packages have one isn't.
func TestTheDocsShowTheTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## Who may import whom")
	if !found {
		t.Fatal("the section is missing")
	}
	var shown []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for i, name := range strings.Split(cells[1], "`") {
				if i%2 == 1 {
					shown = append(shown, strings.TrimSuffix(name, "/…"))
				}
			}
		}
	}
	for _, r := range table() {
		if !slices.ContainsFunc(shown, func(s string) bool { return s == r.path || strings.HasPrefix(s, r.path+"/") }) {
			t.Errorf("docs/architecture.md has no row for %s", r.path)
		}
	}
	for _, s := range shown {
		if !slices.ContainsFunc(table(), func(r row) bool { return s == r.path || strings.HasPrefix(s, r.path+"/") }) {
			t.Errorf("docs/architecture.md has a row for %s, which has no law", s)
		}
	}
}
