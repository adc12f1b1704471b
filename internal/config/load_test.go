package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orebot/internal/config"
)

func TestPlacesOfTheFile(t *testing.T) {
	mark := func(level string) string {
		return "[log]\nlevel = \"" + level + "\"\n[telegram]\nbot_token = \"" + tgToken + "\""
	}
	w := newWorld("XDG_CONFIG_HOME=/xdg", "CONFIGURATION_DIRECTORY=/conf:/other", "OREBOT_CONFIG=/named.toml")
	w.put("/flag.toml", mark("debug"), 0o600).put("/named.toml", mark("info"), 0o600).put("/conf/config.toml", mark("warn"), 0o600)
	w.put("/xdg/orebot/config.toml", mark("error"), 0o600).put("/home/ore/.config/orebot/config.toml", mark("warn"), 0o600)
	w.put(file, mark("debug"), 0o600)
	check := func(path, want, level string) {
		t.Helper()
		cfg, src := w.load(t, path)
		if src.File != want || cfg.Log.Level != level {
			t.Errorf("read %s with level %s, want %s", src.File, cfg.Log.Level, want)
		}
		if got := src.Of("log.level"); got != (config.Source{Origin: config.FromFile, Name: want}) {
			t.Errorf("log.level comes from %v", got)
		}
	}
	check("/flag.toml", "/flag.toml", "debug")
	check("", "/named.toml", "info")
	delete(w.vars, "OREBOT_CONFIG")
	check("", "/conf/config.toml", "warn")
	delete(w.files, "conf/config.toml")
	check("", "/xdg/orebot/config.toml", "error")
	delete(w.vars, "XDG_CONFIG_HOME")
	check("", "/home/ore/.config/orebot/config.toml", "warn")
	delete(w.vars, "HOME")
	w.vars["STATE_DIRECTORY"] = "/s"
	check("", file, "debug")
}

func TestEnvironmentAloneIsABot(t *testing.T) {
	w := newWorld("TELEGRAM_BOT_TOKEN= "+tgToken+"\n", "OREBOT_LOG_LEVEL=Debug")
	cfg, src := w.load(t, "")
	if !cfg.Telegram.On || cfg.Slack.On || cfg.Telegram.BotToken.Reveal() != tgToken || src.File != "" {
		t.Errorf("got %+v from %+v", cfg.Telegram, src)
	}
	if _, still := w.vars["TELEGRAM_BOT_TOKEN"]; still {
		t.Error("the token is still in the environment")
	}
	if cfg.Log.Level != "debug" || src.Of("log.level").String() != "environment OREBOT_LOG_LEVEL" {
		t.Errorf("level %s from %s", cfg.Log.Level, src.Of("log.level"))
	}
	if src.Of(secretly).String() != "environment TELEGRAM_BOT_TOKEN" || src.Of("chat.queue").String() != "default" {
		t.Errorf("sources %v", src.Values)
	}
}

// TestSecretOrder takes one place after the other away: file, credential, environment.
func TestSecretOrder(t *testing.T) {
	token := func(n int) string { return fmt.Sprintf("%d:abcdef", n) }
	w := newWorld("CREDENTIALS_DIRECTORY=/creds")
	w.put("/creds/telegram_bot_token", "\n"+token(2)+"\n", 0o444).put("/etc/orebot/tok", token(1)+"\n", 0o600)
	check := func(toml string, want int, source string) {
		t.Helper()
		w.vars["TELEGRAM_BOT_TOKEN"] = token(3)
		w.put(file, toml, 0o640)
		cfg, src := w.load(t, "")
		if got := cfg.Telegram.BotToken.Reveal(); got != token(want) || src.Of(secretly).String() != source || !cfg.Telegram.On {
			t.Errorf("%q gave %q from %s", toml, got, src.Of(secretly))
		}
		if w.vars["TELEGRAM_BOT_TOKEN"] != "" || len(src.Warnings) > 0 {
			t.Errorf("variable %q, warnings %q", w.vars["TELEGRAM_BOT_TOKEN"], src.Warnings)
		}
	}
	check("[telegram]\nbot_token = \" 0:abcdef \"", 0, "file "+file)
	check("[telegram]\nbot_token_file = \"tok\"", 1, "file /etc/orebot/tok")
	check("[telegram]\nbot_token = \"\"", 2, "credential telegram_bot_token")
	check("", 2, "credential telegram_bot_token")
	delete(w.files, "creds/telegram_bot_token")
	check("", 3, "environment TELEGRAM_BOT_TOKEN")
}

func TestWarnings(t *testing.T) {
	w := newWorld("SLACK_BOT_TOKEN="+xoxb).put("/run/app", xapp, 0o644)
	w.put(file, "[slack]\napp_token_file = \"/run/app\"\naccess = \"allowlist\"\n[telegram]\nbot_token = \""+tgToken+"\"\naccess = \"open\"", 0o644)
	_, src := w.load(t, "")
	want := []string{
		"/etc/orebot/config.toml: slack.app_token_file: /run/app is readable by everyone; chmod 600 /run/app",
		"/etc/orebot/config.toml: telegram.bot_token: stands in a file that everyone may read; hand it over as a credential (systemd: LoadCredential=telegram_bot_token:FILE), or chmod 600 /etc/orebot/config.toml where its owner runs orebot",
		"/etc/orebot/config.toml: slack.access: is allowlist and slack.users is empty: nobody on Slack may talk to the bot",
		"/etc/orebot/config.toml: telegram.access: is open: anybody on Telegram may use the model",
	}
	if !slices.Equal(src.Warnings, want) {
		t.Errorf("got\n%s", strings.Join(src.Warnings, "\n"))
	}
}

func TestStateDirectory(t *testing.T) {
	cases := []struct{ env, toml, want, source string }{
		{"STATE_DIRECTORY=/var/lib/orebot:/x XDG_STATE_HOME=/xs", "", "/var/lib/orebot", "environment STATE_DIRECTORY"},
		{"STATE_DIRECTORY=/var/lib/orebot", `state_dir = "/mine"`, "/mine", "file " + file},
		{"XDG_STATE_HOME=/xs", `state_dir = ""`, "/xs/orebot", "environment XDG_STATE_HOME"},
		{"", `state_dir = ""`, "/home/ore/.local/state/orebot", "default"},
	}
	for _, c := range cases {
		w := newWorld(strings.Fields(c.env+" TELEGRAM_BOT_TOKEN="+tgToken)...).put(file, c.toml, 0o600)
		cfg, src := w.load(t, "")
		if cfg.StateDir != c.want || src.Of("state_dir").String() != c.source {
			t.Errorf("%+v: got %s from %s", c, cfg.StateDir, src.Of("state_dir"))
		}
	}
	w := newWorld("HOME=", "TELEGRAM_BOT_TOKEN="+tgToken)
	_, _, err := config.Load("", w.env())
	if want := "state_dir: has no default without $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME; set it"; err == nil || err.Error() != want {
		t.Errorf("without a home: %v", err)
	}
}

func TestModelHosts(t *testing.T) {
	cases := []struct{ env, want string }{
		{"", "http://127.0.0.1:11434"},
		{"gpu", "http://gpu:11434"},
		{"gpu:9999/ ", "http://gpu:9999"},
		{`"http://gpu"`, "http://gpu"},
		{"https://gpu.example/ollama/", "https://gpu.example/ollama"},
		{"0.0.0.0", "http://127.0.0.1:11434"},
		{":8080", "http://127.0.0.1:8080"},
		{"::1", "http://[::1]:11434"},
		{"[::1]:80", "http://[::1]:80"},
		{"http://[::]", "http://127.0.0.1"},
		{"http://[fe80::1]", "http://[fe80::1]"},
		{"http://[fe80::1%25eth0]:80/", "http://[fe80::1%25eth0]:80"},
	}
	for _, c := range cases {
		cfg, _ := newWorld("TELEGRAM_BOT_TOKEN="+tgToken, "OLLAMA_HOST="+c.env).load(t, "")
		if got := strings.Join(cfg.Ollama.Hosts, " "); got != c.want {
			t.Errorf("%q gives %s, want %s", c.env, got, c.want)
		}
	}
	w := newWorld("TELEGRAM_BOT_TOKEN="+tgToken, "OLLAMA_HOST=env").put(file, "[ollama]\nhosts = [\"a\", \"https://b/\"]", 0o600)
	if cfg, _ := w.load(t, ""); !slices.Equal(cfg.Ollama.Hosts, []string{"http://a:11434", "https://b"}) {
		t.Errorf("the file must win: %v", cfg.Ollama.Hosts)
	}
}
