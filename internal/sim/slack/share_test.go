package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// callAPI calls a method as a bot does.
func (b *bench) callAPI(t *testing.T, method string, form url.Values) (status int, answer map[string]json.RawMessage) {
	t.Helper()
	req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.url+"/api/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer xoxb-sim")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// TestSharedFiles: a file is for whoever shows the token; everybody else gets the sign-in page, as 200.
func TestSharedFiles(t *testing.T) {
	onLoopback(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("ann")
		b.Share(u, b.OpenDM(u), "", []SharedFile{{Name: "a.txt", MIME: "text/plain", Data: []byte("hi")}, {Name: "b", Mode: "tombstone"}})
		get := func(token string) (kind, body string) {
			req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url+"/files/F1/a.txt", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			data, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 {
				t.Errorf("%v, %v", resp.Status, err)
			}
			return resp.Header.Get("Content-Type"), string(data)
		}
		if kind, body := get("xoxb-sim"); kind != "text/plain" || body != "hi" {
			t.Errorf("%s %q", kind, body)
		}
		if kind, body := get("xoxb-other"); !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "Sign in") {
			t.Errorf("%s %q", kind, body)
		}
		if _, a := b.callAPI(t, "files.info", url.Values{"file": {"F1"}}); !strings.Contains(string(a["file"]), `"mimetype":"text/plain"`) {
			t.Errorf("%s", a["file"])
		}
		for id, want := range map[string]string{"F2": `"file_deleted"`, "F9": `"file_not_found"`} {
			if _, a := b.callAPI(t, "files.info", url.Values{"file": {id}}); string(a["error"]) != want {
				t.Errorf("%s: %s", id, a["error"])
			}
		}
	})
}

// TestConversationsOfTheBot: it gets what it is in, by kind, in pages.
func TestConversationsOfTheBot(t *testing.T) {
	onLoopback(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("ann")
		b.OpenDM(u)
		b.AddConversation(MPIM, "", u, "UBOT")
		b.AddChannel("dev", u, "UBOT")
		b.AddChannel("other", u)
		_, a := b.callAPI(t, "users.conversations", url.Values{"types": {"im,mpim"}, "limit": {"1"}})
		if !strings.Contains(string(a["channels"]), `"id":"C1"`) || strings.Contains(string(a["channels"]), `"id":"D1"`) || !strings.Contains(string(a["response_metadata"]), "C1") {
			t.Errorf("%s, %s", a["channels"], a["response_metadata"])
		}
		_, a = b.callAPI(t, "users.conversations", url.Values{"types": {"im,mpim"}, "limit": {"1"}, "cursor": {"C1"}})
		if !strings.Contains(string(a["channels"]), `"id":"D1"`) || a["response_metadata"] != nil {
			t.Errorf("%s, %s", a["channels"], a["response_metadata"])
		}
		if _, a = b.callAPI(t, "users.conversations", url.Values{"types": {"dm"}}); string(a["error"]) != `"invalid_types"` {
			t.Errorf("%s", a["error"])
		}
	})
}

// TestLimits: a method that is called too soon says how long to wait.
func TestLimits(t *testing.T) {
	onLoopback(t, Options{Limits: map[string]time.Duration{"auth.test": time.Minute}}, func(t *testing.T, b *bench) {
		status, _ := b.callAPI(t, "auth.test", nil)
		again, a := b.callAPI(t, "auth.test", nil)
		if status != 200 || again != 429 || string(a["error"]) != `"ratelimited"` {
			t.Errorf("%d, %d %s", status, again, a["error"])
		}
	})
}
