package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"orebot/internal/secret"
)

// rule returns what is wrong with a value, or "".
type rule func(v any) string

var (
	slackUser    = regexp.MustCompile(`^[UW][A-Z0-9]{1,20}$`)
	slackChannel = regexp.MustCompile(`^[CGD][A-Z0-9]{1,20}$`)
	slackCommand = regexp.MustCompile(`^/[a-z0-9_-]{1,31}$`)
	admin        = regexp.MustCompile(`^(slack:[UW][A-Z0-9]{1,20}|telegram:[1-9][0-9]{0,18})$`)
	botToken     = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	mcpName      = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// rules holds the law of every key that not all values of its type satisfy.
func rules() map[string]rule {
	effort := oneOf("auto", "off", "low", "medium", "high")
	pace := oneOf("auto", "off")
	return map[string]rule{
		"state_dir":                   directory,
		"shutdown_grace":              between(0, Duration(time.Hour)),
		"log.level":                   oneOf("debug", "info", "warn", "error"),
		"log.format":                  oneOf("auto", "tint", "journal", "json"),
		"net.proxy_url":               proxy,
		"slack.bot_token":             slackToken("xoxb-", "a bot token", "xapp-", "app_token"),
		"slack.app_token":             slackToken("xapp-", "an app-level token", "xoxb-", "bot_token"),
		"slack.api_url":               apiURL,
		"slack.command":               matches(slackCommand, "a slash command such as \"/orebot\""),
		"slack.access":                oneOf("members", "allowlist"),
		"slack.users":                 each(slackUser, "a Slack user id such as U012AB3CD; the bot's whoami command shows it"),
		"slack.channels":              each(slackChannel, "a Slack channel id such as C012AB3CD; the channel's details show it"),
		"slack.catch_up":              atLeast(Duration(0)),
		"slack.pace":                  pace,
		"telegram.bot_token":          telegramToken,
		"telegram.api_url":            apiURL,
		"telegram.access":             oneOf("pairing", "allowlist", "open"),
		"telegram.gather":             atLeast(Duration(0)),
		"telegram.users":              userIDs,
		"telegram.groups":             groupIDs,
		"telegram.pace":               pace,
		"ollama.hosts":                hosts,
		"ollama.api_key":              oneWord,
		"ollama.model":                modelName,
		"ollama.num_ctx":              between(256, 100_000_000),
		"ollama.max_concurrent":       between(1, 1000),
		"ollama.first_token_timeout":  atLeast(Duration(time.Second)),
		"ollama.idle_timeout":         atLeast(Duration(time.Second)),
		"ollama.retry_for":            atLeast(Duration(0)),
		"ollama.think":                effort,
		"ollama.options":              options,
		"chat.queue":                  oneOf("collect", "fifo"),
		"chat.compact_at":             between(0.1, 1.0),
		"chat.max_parts":              between(1, 100),
		"chat.max_age":                atLeast(Duration(time.Minute)),
		"chat.slow_notice":            atLeast(Duration(0)),
		"chat.max_tool_rounds":        between(1, 100),
		"access.admins":               each(admin, "an admin such as \"slack:U012AB3CD\" or \"telegram:8246\""),
		"link.enabled":                oneOf("off", "dm", "threads"),
		"limits.user_per_minute":      atLeast(1),
		"limits.user_waiting":         atLeast(1),
		"limits.user_tokens_per_day":  atLeast(0),
		"limits.max_input_bytes":      between(256, 512<<10),
		"limits.max_attachment_bytes": between(0, 1<<30),
		"session.idle_evict":          atLeast(Duration(time.Second)),
		"session.retention":           atLeast(Duration(0)),
		"http.listen":                 listen,
	}
}

func oneOf(words ...string) rule {
	return func(v any) string {
		if slices.Contains(words, v.(string)) {
			return ""
		}
		return fmt.Sprintf("%q is not one of %s", v, strings.Join(words, ", "))
	}
}

func atLeast[T cmp.Ordered](low T) rule {
	return func(v any) string {
		if v.(T) >= low {
			return ""
		}
		return fmt.Sprintf("%v is too little; it must be %v or more", v, low)
	}
}

func between[T cmp.Ordered](low, high T) rule {
	return func(v any) string {
		if n := v.(T); n >= low && n <= high {
			return ""
		}
		return fmt.Sprintf("%v is out of range; it must be from %v to %v", v, low, high)
	}
}

func matches(re *regexp.Regexp, what string) rule {
	return func(v any) string {
		if re.MatchString(v.(string)) {
			return ""
		}
		return show(v) + " is not " + what
	}
}

func each(re *regexp.Regexp, what string) rule {
	one := matches(re, what)
	return func(v any) string {
		for _, s := range v.([]string) {
			if complaint := one(s); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}

func directory(v any) string {
	switch s := v.(string); {
	case s == "":
		return "has no default without $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME; set it"
	case strings.HasPrefix(s, "~"):
		return show(s) + " begins with ~, which only a shell expands; write the path out"
	}
	return ""
}

// webURL wants an absolute http or https URL without a password, which would end up in logs.
func webURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return show(s) + " is not a URL that begins with http:// or https://"
	case u.User != nil:
		return "carries a user or password in the URL; leave it out"
	}
	return ""
}

// apiURL wants a webURL to which a method's name can be added.
func apiURL(v any) string {
	if complaint := webURL(v.(string)); complaint != "" {
		return complaint
	}
	if strings.ContainsAny(v.(string), "?#%") {
		return show(v) + " must end in a plain path, without ?, # or %"
	}
	return ""
}

func proxy(v any) string {
	s := v.(secret.String)
	if s.IsZero() {
		return ""
	}
	u, err := url.Parse(s.Reveal())
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return "is not a URL that begins with http://, https:// or socks5://"
	}
	return ""
}

func slackToken(prefix, what, other, otherKey string) rule {
	return func(v any) string {
		s := v.(secret.String).Reveal()
		switch {
		case s == "":
			return ""
		case strings.HasPrefix(s, other):
			return "begins with " + other + ": this is the " + otherKey + ", the two are swapped"
		case !strings.HasPrefix(s, prefix) && !strings.HasPrefix(s, "xoxe."+prefix):
			return "is not " + what + "; one begins with " + prefix
		}
		return oneWord(v)
	}
}

func telegramToken(v any) string {
	if s := v.(secret.String).Reveal(); s != "" && !botToken.MatchString(s) {
		return "is not a bot token; BotFather's look like 110201543:AAH…"
	}
	return ""
}

func oneWord(v any) string {
	for _, r := range v.(secret.String).Reveal() {
		if r <= ' ' || r > '~' {
			return "holds a space, a line break or a letter that no token has; copy it again"
		}
	}
	return ""
}

func userIDs(v any) string {
	for _, n := range v.([]int64) {
		if n <= 0 {
			return fmt.Sprintf("%d is not a user's id, which is positive; groups belong into telegram.groups", n)
		}
	}
	return ""
}

func groupIDs(v any) string {
	for _, n := range v.([]int64) {
		if n >= 0 {
			return fmt.Sprintf("%d is not a group's id, which is negative; copy it with its minus sign", n)
		}
	}
	return ""
}

func hosts(v any) string {
	list := v.([]string)
	if len(list) == 0 {
		return "is empty; name a model server such as \"http://127.0.0.1:11434\""
	}
	for i, h := range list {
		if _, err := modelHost(h); err != nil {
			return err.Error()
		}
		if slices.Contains(list[:i], h) {
			return show(h) + " is there twice"
		}
	}
	return ""
}

func modelName(v any) string {
	if s := v.(string); s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }) {
		return show(s) + " is not a model's name; `ollama list` shows them"
	}
	return ""
}

func options(v any) string {
	if _, ok := v.(map[string]any)["num_ctx"]; ok {
		return "num_ctx belongs into [ollama], where the history is budgeted with it"
	}
	return ""
}

func listen(v any) string {
	if v.(string) == "" {
		return ""
	}
	_, port, err := net.SplitHostPort(v.(string))
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		return show(v) + " is not an address such as \"127.0.0.1:9464\""
	}
	return ""
}
