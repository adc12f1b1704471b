package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orebot/internal/config"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	simtelegram "orebot/internal/sim/telegram"
)

const checkToken = "42:SIM-SECRET-TOKEN"

// checkTelegram runs the check of Telegram against a server; change may alter the configuration, which has the server's own token.
func checkTelegram(t *testing.T, sim *simtelegram.Server, h http.Handler, limit time.Duration, change func(*config.Telegram)) (string, bool) {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer sim.Close() // first: what hangs in a fault ends
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out bytes.Buffer
	r := &report{w: &out}
	cfg := &config.Config{}
	cfg.Telegram = config.Telegram{On: true, APIURL: srv.URL, BotToken: secret.New(checkToken), Access: "pairing"}
	if change != nil {
		change(&cfg.Telegram)
	}
	r.platforms(ctx, cfg)
	if n := len(sim.Calls("getUpdates")) + len(sim.Calls("deleteWebhook")); n != 0 {
		t.Errorf("%d calls that take something from a daemon", n)
	}
	for _, never := range []string{"SECRET", "<html>", "hook-path"} {
		if strings.Contains(out.String(), never) {
			t.Errorf("it tells %q:\n%s", never, out.String())
		}
	}
	return out.String(), r.bad
}

// Facts A1.10, A3.1; report 33.
func TestCheckAsksTelegram(t *testing.T) {
	html := func(status int) fault.Fault { return fault.Fault{Status: status, Body: "<html>no</html>"} }
	for name, c := range map[string]struct {
		o     simtelegram.Options
		meet  []fault.Fault // of getMe
		hook  fault.Fault   // of getWebhookInfo
		set   func(*simtelegram.Server)
		cfg   func(*config.Telegram)
		limit time.Duration
		want  []string
		bad   bool
	}{
		"all is well": {want: []string{"✓ telegram: bot @OreBot, id 42\n", "✓ telegram: no webhook, 0 updates wait\n", "✓ telegram: privacy mode is off", "✓ clock: as telegram's"}},
		"privacy":     {o: simtelegram.Options{Privacy: true}, want: []string{"✓ telegram: privacy mode is on"}},
		"privacy and groups": {o: simtelegram.Options{Privacy: true}, cfg: func(c *config.Telegram) { c.Access = "open" },
			want: []string{"! telegram: privacy mode is on", "/setprivacy at @BotFather"}},
		"webhook": {set: func(s *simtelegram.Server) { s.SetWebhook("https://example.org/hook-path") },
			want: []string{"✗ telegram: a webhook takes this bot's updates to example.org, 0 wait; give orebot a bot of its own"}, bad: true},
		"no webhook known": {hook: html(502), want: []string{"✓ telegram: bot", "✗ telegram: nothing is known of a webhook: something in between answers 502"}, bad: true},
		"401":              {set: (*simtelegram.Server).Revoke, want: []string{"✗ telegram at 127.0.0.1", "the token isn't valid; take"}, bad: true},
		"404": {meet: []fault.Fault{{Status: 404, Body: `{"ok":false,"error_code":404,"description":"Not Found"}`}},
			want: []string{"there is no bot with this token"}, bad: true},
		"404 of something else": {meet: []fault.Fault{html(404)}, want: []string{"what answers there (404) isn't the Bot API; correct telegram.api_url"}, bad: true},
		"HTML":                  {meet: []fault.Fault{html(200)}, want: []string{"what answers there (200) isn't the Bot API"}, bad: true},
		"other JSON":            {meet: []fault.Fault{{Status: 200, Body: `{"ok":true,"result":[]}`}}, want: []string{"isn't the Bot API; correct telegram.api_url"}, bad: true},
		"502 of a proxy":        {meet: []fault.Fault{html(502)}, want: []string{"something in between answers 502", "try again"}, bad: true},
		"500":                   {meet: []fault.Fault{{Status: 500, Body: `{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}`}}, want: []string{"Telegram is out of order (500)"}, bad: true},
		"429":                   {meet: []fault.Fault{simtelegram.TooMany(7 * time.Second)}, want: []string{"wants to be left alone for 7s"}, bad: true},
		"another server's":      {meet: []fault.Fault{{Status: 421, Body: `{"ok":false,"error_code":421,"description":"Misdirected Request"}`}}, want: []string{"serves other bots"}, bad: true},
		"hung":                  {meet: []fault.Fault{{Hang: true}}, limit: 200 * time.Millisecond, want: []string{"no answer in time"}, bad: true},
		"cut":                   {meet: []fault.Fault{{Reset: true}, {Reset: true}}, want: []string{"the connection was cut before an answer came"}, bad: true},
		"nobody there":          {cfg: func(c *config.Telegram) { c.APIURL = "http://127.0.0.1:1" }, want: []string{"✗ telegram at 127.0.0.1:1: nothing answers there"}, bad: true},
		"no such host":          {cfg: func(c *config.Telegram) { c.APIURL = "http://nowhere.invalid" }, want: []string{"✗ telegram at nowhere.invalid: ", "telegram.api_url"}, bad: true},
		"no TLS":                {cfg: func(c *config.Telegram) { c.APIURL = strings.Replace(c.APIURL, "http", "https", 1) }, want: []string{"speaks no TLS"}, bad: true},
		"refused":               {meet: []fault.Fault{{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Logged out"}`}}, want: []string{"Telegram refuses: Logged out (400)"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Token = checkToken
			sim := simtelegram.New(c.o)
			sim.Faults.Next("getMe", c.meet...)
			if c.hook != (fault.Fault{}) {
				sim.Faults.Next("getWebhookInfo", c.hook)
			}
			if c.set != nil {
				c.set(sim)
			}
			out, bad := checkTelegram(t, sim, sim.Handler(), cmp.Or(c.limit, time.Minute), c.cfg)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if bad != c.bad || bad != strings.Contains(out, "✗") {
				t.Errorf("bad %v:\n%s", bad, out)
			}
		})
	}
}

// Of the configured groups it is said whether the bot is in them, and whether it hears all there in spite of privacy mode.
// Facts A3.1; report 33.
func TestCheckAsksAboutGroups(t *testing.T) {
	sim := simtelegram.New(simtelegram.Options{Token: checkToken, Privacy: true})
	in, admin, left, old := sim.AddGroup("in"), sim.AddSupergroup("admin", false), sim.AddGroup("left"), sim.AddGroup("old")
	sim.Promote(admin, sim.Bot(), "administrator")
	sim.Kick(left, sim.AddUser("Ada", "ada"))
	moved := int64(-1001)
	gone := fmt.Sprintf(`{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":%d}}`, moved)
	sim.Faults.Next("getChatMember", fault.Fault{}, fault.Fault{}, fault.Fault{}, fault.Fault{Status: 400, Body: gone})
	out, bad := checkTelegram(t, sim, sim.Handler(), time.Minute, func(c *config.Telegram) { c.Groups = []int64{in, admin, left, old, -999} })
	for _, want := range []string{
		fmt.Sprintf("✓ telegram.groups: in %d\n", in),
		fmt.Sprintf("✓ telegram.groups: in %d, as an administrator: it hears all there\n", admin),
		fmt.Sprintf("✗ telegram.groups: the bot isn't in %d; add it there, or take the id out\n", left),
		fmt.Sprintf("! telegram.groups: %d has become %d; either is understood\n", old, moved),
		"✗ telegram.groups: the bot isn't in -999;",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !bad {
		t.Error("it counts as right")
	}
}
