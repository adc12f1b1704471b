package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orebot/internal/config"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// saying is Slack's refusal.
func saying(code string) fault.Fault {
	return fault.Fault{Status: 200, Body: `{"ok":false,"error":"` + code + `"}`}
}

// TestCheckAsksSlack: who the bot is, which scopes it lacks, and whether the app token opens connections; none is opened.
func TestCheckAsksSlack(t *testing.T) {
	for name, c := range map[string]struct {
		token  string
		scopes []string
		meet   fault.Fault // of auth.test
		opens  fault.Fault // of apps.connections.open
		want   []string
		bad    bool
	}{
		"all is well":  {token: "xoxb-sim", want: []string{"✓ slack: orebot, bot UBOT of workspace T1", "✓ slack: the app token opens connections", "✓ clock: as slack's"}},
		"no scopes":    {token: "xoxb-sim", scopes: []string{"chat:write"}, want: []string{"✓ slack: orebot", "✗ slack: the app lacks scopes: app_mentions:read"}, bad: true},
		"wrong token":  {token: "xoxb-other", want: []string{"✗ slack: ", "invalid_auth"}, bad: true},
		"deactivated":  {token: "xoxb-sim", meet: fault.Fault{Status: 200, Body: `{"ok":false,"error":"account_inactive"}`}, want: []string{"✗ slack: ", "account_inactive"}, bad: true},
		"out of order": {token: "xoxb-sim", meet: fault.Fault{Status: 502, Body: "<html>bad gateway</html>"}, want: []string{"✗ slack: no answer: "}, bad: true},
		"swapped": {token: "xoxb-sim", opens: saying("not_allowed_token_type"),
			want: []string{"✓ slack: orebot", "✗ slack: with the app token, Slack says not_allowed_token_type: ", "app_token the xapp- one"}, bad: true},
		"no connections:write": {token: "xoxb-sim", opens: saying("missing_scope"),
			want: []string{"✗ slack: with the app token, Slack says missing_scope: the app token lacks connections:write; generate another"}, bad: true},
		"revoked app token":   {token: "xoxb-sim", opens: saying("token_revoked"), want: []string{"✗ slack: with the app token, ", "token_revoked"}, bad: true},
		"an odd place":        {token: "xoxb-sim", opens: fault.Fault{Status: 200, Body: `{"ok":true}`}, want: []string{"✗ slack: no answer about the app token: ", "names no place"}, bad: true},
		"out of order, later": {token: "xoxb-sim", opens: fault.Fault{Status: 502, Body: "<html>bad gateway</html>"}, want: []string{"✓ slack: orebot", "✗ slack: no answer about the app token: ", "502"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			sim := simslack.New(simslack.Options{Scopes: c.scopes})
			defer sim.Close()
			if c.meet != (fault.Fault{}) {
				sim.Faults.Next("auth.test", c.meet)
			}
			if c.opens != (fault.Fault{}) {
				sim.Faults.Next("apps.connections.open", c.opens)
			}
			srv := httptest.NewServer(sim.Handler())
			defer srv.Close()
			var out bytes.Buffer
			r := &report{w: &out}
			cfg := &config.Config{}
			cfg.Slack.On, cfg.Slack.APIURL = true, srv.URL+"/api/"
			cfg.Slack.BotToken, cfg.Slack.AppToken = secret.New(c.token), secret.New("xapp-sim")
			r.platforms(context.Background(), cfg)
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			if r.bad != c.bad || strings.Contains(out.String(), c.token) || strings.Contains(out.String(), "xapp-") != (name == "swapped") || strings.Contains(out.String(), "<html>") {
				t.Errorf("bad %v:\n%s", r.bad, out.String())
			}
			if n, asked := sim.Connections(), len(sim.Calls("apps.connections.open")); n != 0 || asked > 1 {
				t.Errorf("%d connections, %d asked for", n, asked)
			}
		})
	}
}

func TestCheckComparesClocks(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for theirs, want := range map[time.Time]string{
		now.Add(-29 * time.Second): "✓ clock: as slack's\n",
		now.Add(31 * time.Second):  "✗ clock: -31s off slack's; set it, by NTP for instance\n",
		now.Add(-2 * time.Hour):    "✗ clock: 2h0m0s off slack's; set it, by NTP for instance\n",
		{}:                         "",
	} {
		var out bytes.Buffer
		(&report{w: &out}).clock("slack", theirs, now)
		if out.String() != want {
			t.Errorf("%v: %q, want %q", theirs, out.String(), want)
		}
	}
}
