package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// manifest is what a test looks at.
type manifest struct {
	Display  struct{ Name, Description string } `json:"display_information"`
	Features struct {
		Bot struct {
			Name string `json:"display_name"`
		} `json:"bot_user"`
		Home struct {
			Messages bool `json:"messages_tab_enabled"`
			ReadOnly bool `json:"messages_tab_read_only_enabled"`
		} `json:"app_home"`
		Commands []struct{ Command, Description string } `json:"slash_commands"`
	}
	OAuth struct {
		Scopes struct{ Bot []string }
	} `json:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `json:"bot_events"`
		} `json:"event_subscriptions"`
		Interactivity struct {
			On bool `json:"is_enabled"`
		}
		Socket bool `json:"socket_mode_enabled"`
	}
}

func printed(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), append([]string{"slack-manifest"}, args...), stdio{nil, &stdout, &stderr})
	return stdout.String() + stderr.String(), code
}

func TestManifest(t *testing.T) {
	out, code := printed(t, "--name", `My "bot" & co`, "--command", "/ask")
	var m manifest
	if err := json.Unmarshal([]byte(out), &m); err != nil || code != 0 {
		t.Fatalf("%v, code %d:\n%s", err, code, out)
	}
	if m.Display.Name != `My "bot" & co` || m.Features.Bot.Name != m.Display.Name || len(m.Features.Commands) != 1 || m.Features.Commands[0].Command != "/ask" ||
		!strings.HasPrefix(m.Features.Commands[0].Description, `Ask My "bot" & co /`) {
		t.Errorf("%+v", m)
	}
	if !m.Settings.Socket || !m.Settings.Interactivity.On || !m.Features.Home.Messages || m.Features.Home.ReadOnly {
		t.Errorf("%+v", m)
	}
	for _, ev := range []string{"app_mention", "message.im", "message.channels", "message.groups", "message.mpim", "app_home_opened", "tokens_revoked", "app_uninstalled"} {
		if !slices.Contains(m.Settings.Events.Bot, ev) {
			t.Errorf("no event %s", ev)
		}
	}
	if len(m.OAuth.Scopes.Bot) != 16 {
		t.Errorf("scopes: %v", m.OAuth.Scopes.Bot)
	}
}

func TestManifestAsALink(t *testing.T) {
	out, code := printed(t, "--url")
	u, err := url.Parse(strings.TrimSpace(out))
	if err != nil || code != 0 || u.Scheme != "https" || u.Host != "api.slack.com" || u.Query().Get("new_app") != "1" {
		t.Fatalf("%v, code %d: %s", err, code, out)
	}
	var a, b any
	whole, _ := printed(t)
	if json.Unmarshal([]byte(u.Query().Get("manifest_json")), &a) != nil || json.Unmarshal([]byte(whole), &b) != nil || inJSONOf(t, a) != inJSONOf(t, b) {
		t.Errorf("the link holds another manifest: %s", out)
	}
}

func inJSONOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestManifestRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--name", ""}, {"--name", strings.Repeat("x", 36)}, {"--command", "orebot"}, {"--command", "/"}, {"--command", "/two words"},
		{"--command", "/Upper"}, {"--command", "/" + strings.Repeat("x", 32)}, {"more"},
	} {
		if out, code := printed(t, args...); code != exitUsage || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: code %d, %s", args, code, out)
		}
	}
}

// TestManifestInTheDocs: who reads the docs sees what the command prints.
func TestManifestInTheDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/slack-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if whole, _ := printed(t); whole != string(doc) {
		t.Error("docs/slack-manifest.json is another one")
	}
}
