package ops

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orebot/internal/secret"
)

// TestNotes: a note is shown while it holds, and keeps nobody from being ready.
func TestNotes(t *testing.T) {
	h := NewHealth(time.Now, time.Minute)
	h.NeedPlatform("slack", 0)
	h.Beat("slack")
	serve := Handler(h, NewMetrics(), secret.NewRedactor(secret.New("xoxb-secret-1234")))
	ask := func(accept string) (int, string) {
		req := httptest.NewRequest(http.MethodGet, "/readyz", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		serve.ServeHTTP(w, req)
		return w.Code, w.Body.String()
	}
	h.Note("slack", "scopes", "the app lacks files:read")
	h.Note("slack", "connections", "another process has xoxb-secret-1234")
	h.Note("slack", "scopes", "the app lacks users:read")
	code, body := ask("")
	if code != 200 || body != "ready\nnote: slack: another process has "+secret.Mask+"\nnote: slack: the app lacks users:read\n" {
		t.Errorf("%d %q", code, body)
	}
	if code, body := ask("application/json"); code != 200 || strings.Count(body, `"topic"`) != 2 || strings.Contains(body, "xoxb") {
		t.Errorf("%d %q", code, body)
	}
	h.Note("slack", "scopes", "")
	h.Note("slack", "connections", "")
	if _, body := ask(""); body != "ready\n" {
		t.Errorf("%q", body)
	}
}
