package config

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
)

// validate checks every key against its rule, then what no single key can tell.
func (l *loader) validate() {
	l.normalise()
	law := rules()
	for _, f := range l.cfg.Fields() {
		rule, ok := law[f.Key]
		if !ok || l.bad[f.Key] {
			continue
		}
		if complaint := rule(f.Value); complaint != "" {
			l.problem(f.Key, complaint)
		}
	}
	for i, m := range l.cfg.MCP {
		l.mcp(fmt.Sprintf("mcp[%d]", i+1), m)
	}
	l.distinctMCP()
	l.certificates()
}

// normalise brings URLs into the form that their readers expect. What can't be is left for the rules.
func (l *loader) normalise() {
	c := l.cfg
	c.Slack.APIURL = strings.TrimRight(c.Slack.APIURL, "/") + "/"
	c.Telegram.APIURL = strings.TrimRight(c.Telegram.APIURL, "/")
	for i, h := range c.Ollama.Hosts {
		if clean, err := modelHost(h); err == nil {
			c.Ollama.Hosts[i] = clean
		}
	}
}

func (l *loader) mcp(key string, m MCP) {
	switch {
	case l.bad[key+".url"] || l.bad[key+".command"]:
	case m.URL == "" && len(m.Command) == 0:
		l.problem(key, "has neither url nor command; give one of them")
	case m.URL != "" && len(m.Command) > 0:
		l.problem(key, "has url and command; keep one of them")
	case m.URL != "":
		if complaint := webURL(m.URL); complaint != "" {
			l.problem(key+".url", complaint)
		}
		if len(m.Env) > 0 {
			l.problem(key+".env", "is for a command; a url has no environment")
		}
	}
	if !l.bad[key+".name"] && !mcpName.MatchString(m.Name) {
		l.problem(key+".name", fmt.Sprintf("%q is not a name; use up to 32 small letters, digits and single hyphens", m.Name))
	}
}

func (l *loader) distinctMCP() {
	var seen []string
	for i, m := range l.cfg.MCP {
		if slices.Contains(seen, m.Name) {
			l.problem(fmt.Sprintf("mcp[%d].name", i+1), fmt.Sprintf("%q is taken; each server needs a name of its own", m.Name))
		}
		seen = append(seen, m.Name)
	}
}

// certificates checks that net.ca_file holds some.
func (l *loader) certificates() {
	if l.cfg.Net.CAFile == "" || l.bad["net.ca_file"] {
		return
	}
	l.cfg.Net.CAFile = l.beside(l.cfg.Net.CAFile)
	text, ok := l.readText("net.ca_file", l.cfg.Net.CAFile)
	if ok && !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		l.problem("net.ca_file", l.cfg.Net.CAFile+" holds no certificate; it must be PEM")
	}
}

// advise warns about what is valid and probably not meant.
func (l *loader) advise() {
	c := l.cfg
	if c.Slack.On && c.Slack.Access == "allowlist" && len(c.Slack.Users) == 0 {
		l.warn("slack.access", "is allowlist and slack.users is empty: nobody on Slack may talk to the bot")
	}
	if c.Telegram.On && c.Telegram.Access == "allowlist" && len(c.Telegram.Users) == 0 {
		l.warn("telegram.access", "is allowlist and telegram.users is empty: nobody on Telegram may talk to the bot")
	}
	if c.Telegram.On && c.Telegram.Access == "open" {
		l.warn("telegram.access", "is open: anybody on Telegram may use the model")
	}
}
