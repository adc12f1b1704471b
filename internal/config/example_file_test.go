package config_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"orebot/internal/config"
)

var switchedOff = regexp.MustCompile(`(?m)^#([a-z_]+ = |\[)`)

func exampleFile(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestExampleIsCompleteAndEqualsTheDefaults switches every line on: each key must be there, with its default.
func TestExampleIsCompleteAndEqualsTheDefaults(t *testing.T) {
	on := switchedOff.ReplaceAllString(exampleFile(t), "$1")
	got, set, problems := config.Decode([]byte(on))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, f := range config.Default().Fields() {
		if !set[f.Key] {
			t.Errorf("%s is missing", f.Key)
		}
	}
	for i := range reflect.TypeFor[config.MCP]().NumField() {
		if key := "mcp[1]." + reflect.TypeFor[config.MCP]().Field(i).Tag.Get("toml"); !set[key] {
			t.Errorf("%s is missing", key)
		}
	}
	if want := []config.MCP{{Name: "docs"}}; !reflect.DeepEqual(got.MCP, want) {
		t.Errorf("mcp is %+v", got.MCP)
	}
	got.MCP = nil
	if want := config.Default(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestExampleRunsUnedited(t *testing.T) {
	w := newWorld("SLACK_BOT_TOKEN="+xoxb, "SLACK_APP_TOKEN="+xapp, "TELEGRAM_BOT_TOKEN="+tgToken, "STATE_DIRECTORY=/s", "OLLAMA_HOST=gpu")
	cfg, src := w.put(file, exampleFile(t), 0o644).load(t, "")
	if !cfg.Slack.On || !cfg.Telegram.On || cfg.StateDir != "/s" || cfg.Ollama.Hosts[0] != "http://gpu:11434" {
		t.Errorf("got %+v", cfg)
	}
	if len(src.Warnings) > 0 {
		t.Errorf("it warns: %q", src.Warnings)
	}
	only := newWorld("TELEGRAM_BOT_TOKEN="+tgToken).put(file, exampleFile(t), 0o644)
	if cfg, _ := only.load(t, ""); cfg.Slack.On {
		t.Error("Slack is on without being asked for")
	}
}

// TestExampleExplainsEveryKey wants a sentence above each key.
func TestExampleExplainsEveryKey(t *testing.T) {
	lines := strings.Split(exampleFile(t), "\n")
	key := regexp.MustCompile(`^#?[a-z_]+ = `)
	for i, line := range lines {
		if key.MatchString(line) && (i == 0 || !strings.HasPrefix(lines[i-1], "# ") || !strings.HasSuffix(lines[i-1], ".")) {
			t.Errorf("line %d has no sentence above it: %s", i+1, line)
		}
	}
}

func TestDefaultPromptIsShort(t *testing.T) {
	if n := len(config.Default().Chat.SystemPrompt); n >= 400 || n == 0 {
		t.Errorf("%d characters", n)
	}
}

// FuzzLoad feeds any file and environment: Load must not panic, and must not repeat a secret.
func FuzzLoad(f *testing.F) {
	for _, c := range wrong {
		if len(c.toml) < 1<<16 {
			f.Add(c.toml, "h")
		}
	}
	f.Add(everything, "ftp://")
	f.Fuzz(func(t *testing.T, toml, host string) {
		w := newWorld("OLLAMA_HOST="+host, "TELEGRAM_BOT_TOKEN=zz"+tgToken[10:], "CREDENTIALS_DIRECTORY=/c").put(file, toml, 0o644)
		cfg, src, err := config.Load("", w.env())
		if cfg == nil {
			t.Fatal("no configuration")
		}
		if err != nil && strings.Contains(err.Error()+strings.Join(src.Warnings, ""), tgToken[10:]) && !strings.Contains(toml+host, tgToken[10:]) {
			t.Errorf("the token is in %v", err)
		}
	})
}
