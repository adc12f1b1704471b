package slack

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	"orebot/internal/sim/pipe"
	simslack "orebot/internal/sim/slack"
)

// tokens that look real, so that a redactor isn't the only thing that finds them.
const (
	botToken = "xoxb-111111111111-bottoken"
	appToken = "xapp-1-A1-appapptoken"
)

// dialSim returns the API of a simulator that is served over pipes until close.
func dialSim(o simslack.Options) (sim *simslack.Server, api *API, end func()) {
	sim, api, _, end = dialMangled(o)
	return sim, api, end
}

// dialMangled is dialSim with a hand on what Slack's answers look like.
func dialMangled(o simslack.Options) (sim *simslack.Server, api *API, m *mangler, end func()) {
	o.BotToken, o.AppToken = botToken, appToken
	l := pipe.Listen()
	sim = simslack.New(o)
	served := make(chan error, 1)
	go func() { served <- sim.Serve(l) }()
	tr := l.Transport()
	m = &mangler{next: tr}
	api = Dial(Account{
		BotToken: secret.New(botToken), AppToken: secret.New(appToken), APIURL: "http://slack.sim/api/",
		Transport: m, DialContext: l.DialContext,
	})
	return sim, api, m, func() {
		sim.Close()
		if err := <-served; err != nil {
			panic(err)
		}
		tr.CloseIdleConnections()
	}
}

// mangler makes the next answer to a post, whatever it is, one that nobody can read.
type mangler struct {
	next http.RoundTripper
	on   atomic.Bool
	last atomic.Pointer[url.Values] // what the last post said
}

func (m *mangler) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/chat.postMessage") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		m.last.Store(&form)
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := m.next.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "/chat.postMessage") && m.on.CompareAndSwap(true, false) {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(`{"ok":true,"ts":7,"message":{"blocks":[`))
	}
	return resp, err
}

func TestConformance(t *testing.T) {
	conduittest.Run(t, func(t *testing.T, logger *slog.Logger) *conduittest.Rig {
		sim, api, m, end := dialMangled(simslack.Options{NoEcho: true})
		ann := sim.AddUser("ann")
		ch := sim.AddChannel("dev", ann, "UBOT")
		root := sim.Say(ann, ch, "@orebot hello")
		dm := place{team: "T1", channel: sim.OpenDM(ann)}.address()
		thread := place{team: "T1", channel: ch, thread: root}.address()
		return &conduittest.Rig{
			Name: Name, Places: []session.Address{thread, dm}, Long: 7000,
			Renderer: NewRenderer(0), Poster: &poster{api: api, log: logger},
			Fault: func(_ session.Address, f conduittest.Fault) bool {
				if f == conduittest.FaultGarbage {
					m.on.Store(true)
					return true
				}
				return script(sim, ch, f)
			},
			Shown: func(a session.Address) []string { return shownAt(sim, a) },
			Cut:   func() { sim.Cut() }, Secrets: []string{botToken, appToken}, Close: end,
		}
	})
}

// script lets the next post meet a fault; only the one that is for good names a channel.
func script(sim *simslack.Server, channel string, f conduittest.Fault) bool {
	refuse := func(code string) fault.Fault {
		return fault.Fault{Status: 200, Body: fmt.Sprintf(`{"ok":false,"error":%q}`, code)}
	}
	faults := map[conduittest.Fault]fault.Fault{
		conduittest.FaultRetry:      refuse("service_unavailable"),
		conduittest.FaultRetryAfter: {Status: 429, Retry: 2 * time.Second},
		conduittest.FaultMalformed:  refuse("invalid_blocks"),
		conduittest.FaultTooBig:     refuse("msg_too_long"),
		conduittest.FaultDead:       refuse("token_revoked"),
		conduittest.FaultCut:        {Cut: true},
		conduittest.FaultLate:       {CutDo: 2 * time.Second},
		conduittest.FaultReset:      {Reset: true},
		conduittest.FaultHang:       {Hang: true},
	}
	if f == conduittest.FaultGone {
		sim.Part(channel, "UBOT")
		return true
	}
	x, ok := faults[f]
	if ok {
		sim.Faults.Next("chat.postMessage", x)
	}
	return ok
}

// shownAt returns what the bot has written at an address, message by message.
func shownAt(sim *simslack.Server, a session.Address) []string {
	at, err := parsePlace(a)
	if err != nil {
		panic(err)
	}
	var out []string
	for _, m := range sim.Thread(at.channel, at.thread) {
		if m.BotID != "" && m.Thread == at.thread {
			out = append(out, m.Shown)
		}
	}
	return out
}
