package telegram

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/internal/sim/pipe"
)

// rig is a server with the real client library connected to it.
type rig struct {
	*Server
	bot  *tgbotapi.BotAPI
	http *http.Client
	base string
}

// inBubble runs f in a synctest bubble with a rig over pipes.
func inBubble(t *testing.T, o Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipe.Listen()
		tr := l.Transport()
		s := New(o)
		stop := serveOn(l, s)
		defer stop()
		defer tr.CloseIdleConnections()
		f(t, newRig(t, s, tr, "http://sim"))
	})
}

// onLoopback connects a rig through a real socket.
func onLoopback(t *testing.T, o Options) *rig {
	t.Helper()
	s := New(o)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() { s.Close(); web.Close() })
	return newRig(t, s, &http.Transport{DisableKeepAlives: true}, web.URL)
}

func serveOn(l net.Listener, s *Server) (stop func()) {
	web := &http.Server{Handler: s.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(l) }()
	return func() { s.Close(); _ = web.Close(); <-done }
}

func newRig(t *testing.T, s *Server, tr http.RoundTripper, base string) *rig {
	t.Helper()
	hc := &http.Client{Transport: tr}
	bot, err := tgbotapi.NewBotAPIWithClient(s.Token(), base+"/bot%s/%s", hc)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{s, bot, hc, base}
}

// call makes a call that must succeed and returns its result.
func (r *rig) call(t *testing.T, method string, params ...string) json.RawMessage {
	t.Helper()
	resp, err := r.try(method, params...)
	if err != nil {
		t.Fatalf("%s%v: %v", method, params, err)
	}
	return resp.Result
}

// try makes a call; params are names and values in turn.
func (r *rig) try(method string, params ...string) (*tgbotapi.APIResponse, error) {
	p := tgbotapi.Params{}
	for i := 0; i+1 < len(params); i += 2 {
		p[params[i]] = params[i+1]
	}
	return r.bot.MakeRequest(method, p)
}

// refused makes a call that must fail with exactly this description.
func (r *rig) refused(t *testing.T, want, method string, params ...string) {
	t.Helper()
	resp, err := r.try(method, params...)
	if err == nil {
		t.Errorf("%s%v: no error, want %q", method, params, want)
		return
	}
	if err.Error() != want {
		t.Errorf("%s%v: %q, want %q (response %+v)", method, params, err, want, resp)
	}
}

// updates polls without waiting.
func (r *rig) updates(t *testing.T, params ...string) []map[string]any {
	t.Helper()
	var out []map[string]any
	if err := json.Unmarshal(r.call(t, "getUpdates", params...), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func idsOf(us []map[string]any) []int {
	out := []int{}
	for _, u := range us {
		out = append(out, int(u["update_id"].(float64)))
	}
	return out
}

func str(n int64) string { return strconv.FormatInt(n, 10) }

// since rounds away what a loaded machine adds to a bubble's exact time.
func since(t0 time.Time) time.Duration { return time.Since(t0).Round(time.Millisecond) }

// get fetches a path and returns status and body.
func get(t *testing.T, r *rig, path string) (int, string) {
	t.Helper()
	resp, err := r.http.Get(r.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
