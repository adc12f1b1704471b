package config

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"orebot/internal/secret"
)

// slot is a secret with all the places it may come from.
type slot struct {
	key   string // dotted; key + "_file" names the file
	value *secret.String
	file  *string
	name  string // the credential's name; the variable's in capitals
}

func (s slot) env() string { return strings.ToUpper(s.name) }

// give says how to give this secret.
func (s slot) give() string {
	table, leaf, _ := strings.Cut(s.key, ".")
	return "put " + leaf + " or " + leaf + "_file into [" + table + "], or set $" + s.env() +
		" (systemd: LoadCredential=" + s.name + ":FILE)"
}

func (c *Config) slots() []slot {
	return []slot{
		{"slack.bot_token", &c.Slack.BotToken, &c.Slack.BotTokenFile, "slack_bot_token"},
		{"slack.app_token", &c.Slack.AppToken, &c.Slack.AppTokenFile, "slack_app_token"},
		{"telegram.bot_token", &c.Telegram.BotToken, &c.Telegram.BotTokenFile, "telegram_bot_token"},
		{"ollama.api_key", &c.Ollama.APIKey, &c.Ollama.APIKeyFile, "ollama_api_key"},
	}
}

// secrets fills every slot: from the file, else the credential, else the environment, whose variables are unset.
func (l *loader) secrets() {
	for _, s := range l.cfg.slots() {
		fromEnv := strings.TrimSpace(l.env.Getenv(s.env()))
		_ = l.env.Unsetenv(s.env()) // fails only for names that no variable can have
		switch {
		case !s.value.IsZero() && *s.file != "":
			l.problem(s.key, "is there inline and as "+s.key+"_file; keep one of them")
		case !s.value.IsZero():
			l.warnInline(s)
		case *s.file != "":
			l.fileSecret(s)
		case l.credential(s):
		case fromEnv != "":
			l.take(s, fromEnv, Source{FromEnv, s.env()})
		}
	}
}

func (l *loader) fileSecret(s slot) {
	path := l.beside(*s.file)
	text, ok := l.readText(s.key+"_file", path)
	if !ok {
		return
	}
	if info, err := l.env.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
		l.warn(s.key+"_file", path+" is readable by everyone; chmod 600 "+path)
	}
	l.take(s, text, Source{FromFile, path})
}

// credential takes s from systemd's directory and reports whether there was something to take.
func (l *loader) credential(s slot) bool {
	dir := l.env.Getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return false
	}
	data, err := l.env.ReadFile(filepath.Join(dir, s.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	source := Source{FromCredential, s.name}
	if err != nil {
		l.add("credential " + s.name + ": can't be read: " + reason(err))
		return true
	}
	l.take(s, strings.TrimSpace(string(data)), source)
	return true
}

// take stores a secret that isn't inline.
func (l *loader) take(s slot, text string, from Source) {
	l.src.Values[s.key] = from
	if text == "" {
		l.problem(s.key, "is empty")
		return
	}
	*s.value = secret.New(text)
}

// readText reads a file that the configuration names, trimmed.
func (l *loader) readText(key, path string) (string, bool) {
	data, err := l.env.ReadFile(path)
	if err != nil {
		l.problem(key, "can't read "+path+": "+reason(err))
		return "", false
	}
	return strings.TrimSpace(string(data)), true
}

// warnInline doesn't send everybody to chmod: the user of the systemd unit is made at start and owns no file.
func (l *loader) warnInline(s slot) {
	if info, err := l.env.Stat(l.src.File); err == nil && info.Mode().Perm()&0o004 != 0 {
		l.warn(s.key, "stands in a file that everyone may read; hand it over as a credential (systemd: LoadCredential="+s.name+
			":FILE), or chmod 600 "+l.src.File+" where its owner runs orebot")
	}
}

// beside resolves a relative path of the configuration against the file's directory.
func (l *loader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.src.File), path)
}

// platforms decides which platforms are on: by their table or by one of their tokens.
func (l *loader) platforms() {
	c := l.cfg
	c.Slack.On = l.set["slack"] || l.given("slack.bot_token") || l.given("slack.app_token")
	c.Telegram.On = l.set["telegram"] || l.given("telegram.bot_token")
	on := map[string]bool{"slack": c.Slack.On, "telegram": c.Telegram.On}
	wrong := map[string]bool{"slack": l.bad["slack"], "telegram": l.bad["telegram"]}
	for _, s := range c.slots() {
		table, leaf, _ := strings.Cut(s.key, ".")
		if on[table] && s.value.IsZero() && !wrong[table] && !l.bad[s.key] && !l.bad[s.key+"_file"] {
			l.problem(table, "has no "+leaf+"; "+s.give())
		}
	}
	if !c.Slack.On && !c.Telegram.On {
		l.kind = ErrNoPlatform
		l.add("no platform is on; set $SLACK_BOT_TOKEN and $SLACK_APP_TOKEN, or $TELEGRAM_BOT_TOKEN, " +
			"or write a [slack] or [telegram] table into " + l.fileOrDefault())
	}
}

// given reports whether a secret came from anywhere, be it good or bad.
func (l *loader) given(key string) bool {
	_, ok := l.src.Values[key]
	return ok
}

// proxyPassword returns the password in the URL of a proxy.
func proxyPassword(proxy secret.String) secret.String {
	u, err := url.Parse(proxy.Reveal())
	if err != nil || u.User == nil {
		return secret.String{}
	}
	password, _ := u.User.Password()
	return secret.New(password)
}

// reason returns what is wrong with a file without repeating its path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
