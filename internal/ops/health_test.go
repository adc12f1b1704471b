package ops

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orebot/internal/secret"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// get asks the handler and returns status and body.
func get(h http.Handler, path, accept string) (int, string) {
	w, req := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
	req.Header.Set("Accept", accept)
	h.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// TestReadinessStory tells the life of a daemon with two platforms and two model hosts.
func TestReadinessStory(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now, time.Minute)
	handler := Handler(h, NewMetrics(), secret.NewRedactor(secret.New("hunter22")))
	h.NeedPlatform("slack", 0)
	h.NeedPlatform("telegram", 5*time.Minute)
	h.NeedModel("http://a")
	h.NeedModel("http://b")
	step := func(do func(), wait time.Duration, want string) {
		t.Helper()
		do()
		c.t = c.t.Add(wait)
		code, body := get(handler, "/readyz", "")
		if got := strings.ReplaceAll(body, "\n", "|"); got != want || (code == 200) != (want == "ready|") {
			t.Errorf("%d\n got %s\nwant %s", code, got, want)
		}
	}
	at := " (since 2026-01-02T03:04:05Z)|"
	step(func() {}, 0, "http://a: no round trip yet"+at+"http://b: no round trip yet"+at+"slack: no round trip yet"+at+"telegram: no round trip yet"+at)
	step(func() { h.Set("slack", true, ""); h.Beat("http://b") }, 0, "slack: no round trip yet"+at+"telegram: no round trip yet"+at)
	step(func() { h.Beat("slack"); h.Set("telegram", false, "401 for bot hunter22") }, time.Second, "telegram: 401 for bot [redacted]"+at)
	step(func() { h.Beat("telegram") }, 5*time.Minute, "ready|")
	step(func() {}, time.Second, "telegram: no round trip for 5m1s (since 2026-01-02T03:04:06Z)|")
	step(func() { h.Beat("telegram"); h.Set("http://b", false, "refused") }, 0,
		"http://a: no round trip yet"+at+"http://b: refused (since 2026-01-02T03:09:07Z)|")
	step(func() { h.Beat("http://a"); h.Set("store", false, "disk full") }, 0, "store: disk full (since 2026-01-02T03:09:07Z)|")
	step(func() { h.Beat("store") }, 0, "ready|")
	step(func() { h.Set("slack", false, "") }, 0, "slack: not ready (since 2026-01-02T03:09:07Z)|")
}

func TestReadyzAsJSON(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now, time.Minute)
	handler := Handler(h, NewMetrics(), nil)
	if code, body := get(handler, "/readyz", "application/json"); code != 200 || body != "{\"ready\":true}\n" {
		t.Errorf("%d %s", code, body)
	}
	h.Set("slack", false, "invalid_auth")
	code, body := get(handler, "/readyz", "text/html, application/json")
	var got struct {
		Ready   bool
		Reasons []Reason
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != 503 || got.Ready || len(got.Reasons) != 1 {
		t.Fatalf("%d %s %v", code, body, err)
	}
	if r := got.Reasons[0]; r.Component != "slack" || r.Reason != "invalid_auth" || !r.Since.Equal(c.t) {
		t.Errorf("got %+v", r)
	}
	if got := h.Summary(); got != "not ready: slack: invalid_auth" {
		t.Errorf("got %s", got)
	}
}

func TestLivezFollowsTheMainLoop(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now, time.Minute)
	handler := Handler(h, NewMetrics(), nil)
	c.t = c.t.Add(time.Minute)
	if code, _ := get(handler, "/livez", ""); code != 200 {
		t.Errorf("a minute after the start: %d", code)
	}
	c.t = c.t.Add(time.Second)
	if code, body := get(handler, "/livez", ""); code != 503 || body != "the main loop has stood still for 1m1s\n" {
		t.Errorf("%d %s", code, body)
	}
	h.Tick()
	if code, _ := get(handler, "/livez", ""); code != 200 || h.Live() != nil {
		t.Errorf("after a tick: %d", code)
	}
}

func TestHealthFigures(t *testing.T) {
	c := newClock()
	h := NewHealth(c.now, time.Minute)
	h.NeedPlatform("slack", time.Minute)
	h.NeedPlatform("telegram", 0)
	h.NeedModel("http://a")
	h.Beat("slack")
	h.Beat("http://a")
	handler := Handler(h, NewMetrics(), nil)
	_, body := get(handler, "/metrics", "")
	for _, want := range []string{`platform_ready{platform="slack"} 1`, `platform_ready{platform="telegram"} 0`,
		`model_up{host="http://a"} 1`, `platform_last_success_timestamp_seconds{platform="slack"} 1.767323045e+09`} {
		if !strings.Contains(body, "orebot_"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	c.t = c.t.Add(time.Hour)
	if _, body = get(handler, "/metrics", ""); !strings.Contains(body, `platform_ready{platform="slack"} 0`) {
		t.Error("an old success still counts")
	}
	if code, _ := get(handler, "/nothing", ""); code != 404 {
		t.Errorf("unknown path: %d", code)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("a taken address: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, ln, Handler(NewHealth(time.Now, time.Hour), NewMetrics(), nil), slog.New(slog.DiscardHandler))
	}()
	resp, err := http.Get("http://" + ln.Addr().String() + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if string(body) != "ok\n" {
		t.Errorf("got %q", body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := Serve(t.Context(), ln, http.NotFoundHandler(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
}
