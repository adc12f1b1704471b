package config_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"orebot/internal/config"
)

var update = flag.Bool("update", false, "write the golden files")

// wrong configurations: what the operator wrote, in which environment.
var wrong = []struct{ name, toml, env string }{
	{"no platform", "", ""},
	{"unknown keys", "modle = 1\nmodel = \"x\"\nzzz = 1\n[slack]\nbot_tokn = \"" + xoxb + "\"\n[ollama]\nnum-ctx = 5\n[slak]\na=1", ""},
	{"unknown key with a tag's name", "\"-\" = true\n[telegram]\n\"-\" = true\nOn = true", "TELEGRAM_BOT_TOKEN=" + tgToken},
	{"types", `shutdown_grace = 20
slack = 3
mcp = "docs"
[telegram]
bot_token = 5
users = ["anna"]
groups = 7
[ollama]
hosts = "http://x"
num_ctx = "8192"
options = 1
[chat]
compact_at = "high"
show_reasoning = "yes"
queue = 1
max_age = true
[access]
admins = [1]`, ""},
	{"words", `[log]
level = "loud"
format = "xml"
[slack]
pace = "fast"
access = "open"
command = "orebot"
users = ["U012AB3CD", "anna"]
channels = ["#general"]
[telegram]
access = "members"
users = [-5]
groups = [5]
[ollama]
think = "hard"
model = ""
[access]
admins = ["anna"]
[link]
enabled = "yes"
[chat]
queue = "lifo"`, "SLACK_BOT_TOKEN=" + xoxb + " SLACK_APP_TOKEN=" + xapp + " TELEGRAM_BOT_TOKEN=" + tgToken},
	{"numbers", `shutdown_grace = "-3s"
[telegram]
[ollama]
num_ctx = 0
max_concurrent = 0
idle_timeout = "0"
[chat]
compact_at = 7.5
max_age = "5 hours"
max_parts = 0
max_tool_rounds = 0
slow_notice = "1parsec"
[limits]
user_per_minute = 0
user_waiting = -1
user_tokens_per_day = -1
max_input_bytes = 100000000
max_attachment_bytes = -1
[session]
retention = "30"
idle_evict = "0"`, "TELEGRAM_BOT_TOKEN=" + tgToken},
	{"addresses", `state_dir = "~/ore"
[net]
proxy_url = "me:hunter22@proxy"
ca_file = "missing.pem"
[slack]
api_url = "slack.com"
[telegram]
api_url = "https://u:hunter22@h"
[ollama]
hosts = ["ftp://x"]
[ollama.options]
num_ctx = 4
[http]
listen = "9464"`, "SLACK_BOT_TOKEN=" + xoxb + " SLACK_APP_TOKEN=" + xapp + " TELEGRAM_BOT_TOKEN=" + tgToken},
	{"hosts empty", "[ollama]\nhosts = []", "TELEGRAM_BOT_TOKEN=" + tgToken},
	{"hosts twice", "[ollama]\nhosts = [\"h\", \"http://h:11434/\"]", "TELEGRAM_BOT_TOKEN=" + tgToken},
	{"environment", "", "TELEGRAM_BOT_TOKEN=" + tgToken + " OREBOT_LOG_LEVEL=LOUD OLLAMA_HOST=ftp://x"},
	{"no token", "[slack]\n[telegram]", ""},
	{"half a Slack in the environment", "", "SLACK_BOT_TOKEN=" + xoxb},
	{"half a Slack in the file", "[slack]\nbot_token = \"" + xoxb + "\"", ""},
	{"swapped in the file", "[slack]\nbot_token = \"" + xapp + "\"\napp_token = \"" + xoxb + "\"", ""},
	{"swapped in the environment", "", "SLACK_BOT_TOKEN=" + xapp + " SLACK_APP_TOKEN=" + xoxb},
	{"foreign tokens", "[slack]\nbot_token = \"hunter22\"\n[telegram]\nbot_token = \"hunter22\"", "SLACK_APP_TOKEN=xapp-hunter22ü"},
	{"two lines", "[slack]\napp_token_file = \"/run/two\"\nbot_token_file = \"/run/swapped\"\n[telegram]\nbot_token_file = \"/run/none\"\n[ollama]\napi_key_file=\"/run/empty\"", ""},
	{"both", "[telegram]\nbot_token = \"" + tgToken + "\"\nbot_token_file = \"/run/two\"\n[chat]\nsystem_prompt = \"a\"\nsystem_prompt_file = \"/run/two\"", ""},
	{"credential", "", "CREDENTIALS_DIRECTORY=/creds"},
	{"mcp", `[[mcp]]
name = "My Docs"
[[mcp]]
name = "a"
url = "http://x"
command = ["y"]
[[mcp]]
name = "a"
url = "x"
env = { A = 1 }
[[mcp]]
name = "b"
url = "http://x"
env = { A = "hunter22" }
colour = "red"`, "TELEGRAM_BOT_TOKEN=" + tgToken},
	{"syntax of a word", "[slack]\naccess = members", ""},
	{"syntax of a secret", "[slack]\nbot_token = hunter22", ""},
	{"syntax of a bare telegram token", "[telegram]\nbot_token = " + tgToken, ""},
	{"twice", "state_dir = \"/a\"\nstate_dir = \"/b\"", ""},
	{"large", "# " + strings.Repeat("x", 1<<20), ""},
}

func TestWrongConfigurations(t *testing.T) {
	var out strings.Builder
	for _, c := range wrong {
		w := newWorld(strings.Fields(c.env)...)
		w.put(file, c.toml, 0o600).put("/run/two", "xapp-1-A1\nhunter22", 0o600).put("/run/swapped", "xapp-hunter22", 0o600)
		w.put("/run/empty", " \n", 0o600).put("/creds/telegram_bot_token", "hunter22", 0o400)
		cfg, src, err := config.Load("", w.env())
		var ce *config.Error
		if !errors.As(err, &ce) || len(ce.Problems) == 0 || cfg == nil {
			t.Fatalf("%s: got %v", c.name, err)
		}
		text := err.Error() + strings.Join(src.Warnings, "\n")
		for _, s := range []string{"hunter22", "222-aaaa", "333-bbbb", "AAHdqT"} {
			if strings.Contains(text, s) {
				t.Errorf("%s: a secret is in %s", c.name, text)
			}
		}
		fmt.Fprintf(&out, "== %s\n%s\n\n", c.name, err)
	}
	golden(t, "testdata/wrong.golden", out.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (-update writes it):\n%s", path, got)
	}
}

func TestKindsOfErrors(t *testing.T) {
	w := newWorld("OREBOT_CONFIG=/else/where.toml")
	if _, _, err := config.Load("", w.env()); !errors.Is(err, config.ErrNoFile) || errors.Is(err, config.ErrNoPlatform) {
		t.Errorf("named by the environment and missing: %v", err)
	}
	_, src, err := config.Load("/named.toml", newWorld("TELEGRAM_BOT_TOKEN="+tgToken).env())
	if want := "/named.toml: can't be read: file does not exist; check -c, --config and $OREBOT_CONFIG"; !errors.Is(err, config.ErrNoFile) || err.Error() != want {
		t.Errorf("named and missing: %v", err)
	}
	if src.File != "/named.toml" {
		t.Errorf("File is %q", src.File)
	}
	locked := newWorld("TELEGRAM_BOT_TOKEN=" + tgToken).env()
	locked.ReadFile = func(path string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	_, _, err = config.Load("/named.toml", locked)
	if want := "/named.toml: can't be read: permission denied; let the user that runs orebot read it"; err == nil || err.Error() != want {
		t.Errorf("not readable: %v", err)
	}
	cfg, _, err := config.Load("", newWorld().env())
	if !errors.Is(err, config.ErrNoPlatform) || errors.Is(err, config.ErrNoFile) {
		t.Errorf("nothing at all: %v", err)
	}
	if cfg.StateDir != "/home/ore/.local/state/orebot" {
		t.Errorf("with an error the state is looked for at %q", cfg.StateDir)
	}
}
