package config_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/config"
	"orebot/internal/secret"
)

const everything = `state_dir = "/state"
shutdown_grace = "1m30s"
[net]
proxy_url = "http://me:hunter22@proxy:3128"
ca_file = "ca.pem"
[slack]
bot_token = "` + xoxb + `"
app_token = "` + xapp + `"
api_url = "http://127.0.0.1:9/api"
users = ["U1", "W2"]
channels = ["C1"]
allow_bots = true
catch_up = "1w2d"
[telegram]
bot_token = "` + tgToken + `"
api_url = "http://127.0.0.1:8/"
users = [8246, "8247"]
groups = [-100123]
[ollama]
api_key = "hunter23"
keep_alive = -1
retry_for = 0
options = { temperature = 0.5, stop = ["x"] }
[chat]
system_prompt_file = "prompt.md"
compact_at = 1
[access]
admins = ["slack:U1", "telegram:8246"]
[[mcp]]
name = "docs"
command = ["docs", "--stdio"]
env = { KEY = "hunter24" }
tools = ["find"]
[http]
listen = "127.0.0.1:9464"
`

// certificate returns a fresh one as PEM.
func certificate(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestEveryKindOfValue(t *testing.T) {
	w := newWorld().put(file, strings.Replace(everything, `ca_file = "ca.pem"`, "", 1), 0o600).put("/etc/orebot/prompt.md", " Be terse.\n", 0o644)
	cfg, src := w.load(t, "")
	got := fmt.Sprint(cfg.StateDir, cfg.ShutdownGrace, cfg.Slack.APIURL, cfg.Slack.Users, cfg.Slack.Channels, cfg.Slack.AllowBots,
		cfg.Slack.CatchUp.D(), cfg.Telegram.APIURL, cfg.Telegram.Users, cfg.Telegram.Groups, cfg.Ollama.KeepAlive, cfg.Ollama.RetryFor,
		cfg.Ollama.Options, cfg.Chat.SystemPrompt, cfg.Chat.CompactAt, cfg.Access.Admins, cfg.HTTP.Listen, cfg.MCP[0].Command, cfg.MCP[0].Tools)
	want := "/state 1m30s http://127.0.0.1:9/api/ [U1 W2] [C1] true 216h0m0s http://127.0.0.1:8 [8246 8247] [-100123] -1 0 " +
		"map[stop:[x] temperature:0.5] Be terse. 1 [slack:U1 telegram:8246] 127.0.0.1:9464 [docs --stdio] [find]"
	if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := src.Of("chat.system_prompt").String(); got != "file /etc/orebot/prompt.md" {
		t.Errorf("the prompt comes from %s", got)
	}
	for _, s := range []string{fmt.Sprintf("%+v %#v", cfg, cfg), fmt.Sprintf("%+v", cfg.Fields()), fmt.Sprintf("%#v", src)} {
		if strings.Contains(s, "hunter2") || strings.Contains(s, "aaaaaaaa") || strings.Contains(s, "AAHdq") {
			t.Errorf("a secret is in %s", s)
		}
	}
	assertRedacted(t, cfg)
}

func assertRedacted(t *testing.T, cfg *config.Config) {
	t.Helper()
	r := secret.NewRedactor(cfg.Secrets()...)
	for _, s := range []string{xoxb, xapp, tgToken, "hunter22", "hunter23", "hunter24"} {
		if got := r.Redact(s); got != secret.Mask {
			t.Errorf("Secrets lacks %s", got)
		}
	}
}

func TestCAFileMustHoldACertificate(t *testing.T) {
	w := newWorld().put(file, everything, 0o600).put("/etc/orebot/prompt.md", "x", 0o644)
	w.put("/etc/orebot/ca.pem", certificate(t), 0o644)
	if cfg, _ := w.load(t, ""); cfg.Net.CAFile != "/etc/orebot/ca.pem" {
		t.Errorf("got %q", cfg.Net.CAFile)
	}
	w.put("/etc/orebot/ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", 0o644)
	_, _, err := config.Load("", w.env())
	want := "/etc/orebot/config.toml: net.ca_file: /etc/orebot/ca.pem holds no certificate; it must be PEM"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestDurations(t *testing.T) {
	cases := []struct {
		in   string
		want time.Duration
		out  string
	}{
		{"0", 0, "0"}, {"90s", 90 * time.Second, "1m30s"}, {"6h", 6 * time.Hour, "6h"}, {"2d", 48 * time.Hour, "2d"},
		{"1w2d3h", 9*24*time.Hour + 3*time.Hour, "219h"}, {"1.5d", 36 * time.Hour, "36h"}, {"-1", -1, "-1"},
		{"-1d", -24 * time.Hour, "-24h0m0s"}, {" 10m ", 10 * time.Minute, "10m"}, {"100ms", 100 * time.Millisecond, "100ms"},
		{"-1d2h", -26 * time.Hour, "-26h0m0s"}, {"14d", 14 * 24 * time.Hour, "2w"}, {"1h30m", 90 * time.Minute, "1h30m"},
	}
	for _, c := range cases {
		d, err := config.ParseDuration(c.in)
		if err != nil || d.D() != c.want || d.String() != c.out {
			t.Errorf("%q: got %v (%s), %v", c.in, d.D(), d, err)
		}
		if back, err := config.ParseDuration(d.String()); err != nil || back != d {
			t.Errorf("%q doesn't come back: %v, %v", d, back, err)
		}
	}
	for _, s := range []string{"", "x", "5", "1..2d", "d", "1d-2h", "1d5", "99999999999999w", "9000000000000h", "1h2d", "200000d2000000h"} {
		if d, err := config.ParseDuration(s); err == nil {
			t.Errorf("%q was read as %v", s, d)
		}
	}
}

// TestEveryKeyHasALaw holds the table of rules against the struct.
func TestEveryKeyHasALaw(t *testing.T) {
	any := []string{"mcp", "net.ca_file", "ollama.keep_alive", "chat.system_prompt"} // checked elsewhere, or free
	for _, f := range config.Default().Fields() {
		_, ok := config.Rules()[f.Key]
		free := slices.Contains(any, f.Key) || strings.HasSuffix(f.Key, "_file") || reflect.TypeOf(f.Value).Kind() == reflect.Bool
		if ok == free {
			t.Errorf("%s: has a rule: %t, needs none: %t", f.Key, ok, free)
		}
	}
	for key := range config.Rules() {
		if !slices.ContainsFunc(config.Default().Fields(), func(f config.Field) bool { return f.Key == key }) {
			t.Errorf("a rule for %s, which doesn't exist", key)
		}
	}
}
