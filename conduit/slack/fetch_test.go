package slack

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// shared lets a person share one file and returns how it came in.
func (r *rig) shared(f simslack.SharedFile) session.Attachment {
	r.t.Helper()
	if r.Share("U1", r.OpenDM("U1"), "", []simslack.SharedFile{f}) == "" {
		r.t.Fatal("not shared")
	}
	time.Sleep(5 * time.Second)
	all := r.inbounds()
	in := all[len(all)-1]
	if len(in.Attachments) != 1 {
		r.t.Fatalf("took in %+v", in)
	}
	return in.Attachments[0]
}

// TestFetch: facts A2.9, A8.8, A8.9, O.11.
func TestFetch(t *testing.T) { // case 12, O11
	text := simslack.SharedFile{Name: "notes `1`.txt", MIME: "text/plain", Data: []byte("two < three")}
	with := func(change func(*simslack.SharedFile)) simslack.SharedFile {
		f := text
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		file  simslack.SharedFile
		meet  []fault.Fault
		say   string // of the error; empty: it is read
		retry bool
	}{
		"a file":               {file: text},
		"of another workspace": {file: with(func(f *simslack.SharedFile) { f.Check = true })},
		"a page": {file: with(func(f *simslack.SharedFile) {
			f.MIME, f.Data = "text/html; charset=utf-8", []byte("<!DOCTYPE html><p>mine")
		})},
		"empty":                 {file: with(func(f *simslack.SharedFile) { f.Data = nil })},
		"sign-in page":          {file: with(func(f *simslack.SharedFile) { f.SignIn = true }), say: "doesn't let me read `notes '1'.txt`"},
		"sign-in page for one":  {file: with(func(f *simslack.SharedFile) { f.SignIn, f.MIME = true, "text/html" }), say: "files:read"},
		"kept elsewhere":        {file: with(func(f *simslack.SharedFile) { f.Mode = "external" }), say: "outside Slack"},
		"deleted":               {file: with(func(f *simslack.SharedFile) { f.Mode = "tombstone" }), say: "One of the files isn't there"},
		"hidden":                {file: with(func(f *simslack.SharedFile) { f.Mode = "hidden_by_limit" }), say: "plan"},
		"503":                   {file: text, meet: []fault.Fault{{Status: 503}}, say: "just now", retry: true},
		"429":                   {file: text, meet: []fault.Fault{{Status: 429, Retry: time.Second}}, say: "just now", retry: true},
		"403":                   {file: text, meet: []fault.Fault{{Status: 403}}, say: "files:read"},
		"404":                   {file: text, meet: []fault.Fault{{Status: 404}}, say: "isn't there"},
		"a page without a type": {file: text, meet: []fault.Fault{{Status: 200, Body: "<!DOCTYPE html><html>sign in"}}, say: "doesn't let me read"},
		"cut":                   {file: text, meet: []fault.Fault{{Reset: true}, {Reset: true}, {Reset: true}}, say: "just now", retry: true},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				r.AddUser("ann")
				att := r.shared(c.file)
				r.Faults.Next("files", c.meet...)
				var got bytes.Buffer
				told, err := r.api.Fetch(t.Context(), "", att, &got)
				if c.say == "" {
					if err != nil || got.String() != string(c.file.Data) || told.MIME != c.file.MIME || told.Size != int64(len(c.file.Data)) {
						t.Errorf("%q, %+v, %v", got.String(), told, err)
					}
					return
				}
				var fail *session.FetchError
				if !errors.As(err, &fail) || !strings.Contains(fail.Text, c.say) || fail.Retry != c.retry || got.Len() != 0 {
					t.Errorf("%q, %+v", got.String(), err)
				}
				if n := len(r.Calls("files")); c.file.Mode != "" && n != 0 {
					t.Errorf("%d downloads", n)
				}
			})
		})
	}
}

// full is a writer that takes so many bytes.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestFetchStops: what is longer than its reader wants isn't read on. Facts A8.9, B.14.
func TestFetchStops(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		r.AddUser("ann")
		att := r.shared(simslack.SharedFile{Name: "big", MIME: "text/plain", Data: bytes.Repeat([]byte("x"), 4<<20)})
		var fail *session.FetchError
		if _, err := r.api.Fetch(t.Context(), "", att, &full{1 << 20}); !errors.Is(err, errFull) || errors.As(err, &fail) {
			t.Errorf("%v", err)
		}
	})
}

// redirecting answers each request with a redirect, and notes who gets the token.
type redirecting struct {
	to   map[string]string
	seen map[string]string
}

func (d *redirecting) RoundTrip(req *http.Request) (*http.Response, error) {
	d.seen[req.URL.Host] = req.Header.Get("Authorization")
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("bytes")), Request: req}
	if to := d.to[req.URL.String()]; to != "" {
		resp.StatusCode = 302
		resp.Header.Set("Location", to)
	}
	return resp, nil
}

// TestTokenStaysAtSlack: no address and no redirect makes the token leave Slack's hosts. Facts A8.8, B.14.
func TestTokenStaysAtSlack(t *testing.T) {
	const start = "https://files.slack.com/a"
	for to, ok := range map[string]bool{
		"https://cdn.slack.com/a": true, "https://evil.example/a": false, "https://notslack.com/a": false, "http://files.slack.com/b": false,
		"https://slack.com.evil.example/": false, "//evil.example/x": false, "https://slack.com@evil.example/": false,
	} {
		d := &redirecting{to: map[string]string{start: to}, seen: map[string]string{}}
		api := Dial(Account{BotToken: secret.New(botToken), Transport: d})
		_, err := api.Fetch(t.Context(), "", session.Attachment{ID: "F1", URL: start, MIME: "text/plain"}, io.Discard)
		if (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
		for host, auth := range d.seen {
			if auth != "" && !strings.HasSuffix(host, ".slack.com") || !ok && host == "evil.example" {
				t.Errorf("%s: %s got %q", to, host, auth)
			}
		}
		if err != nil && strings.Contains(err.Error(), botToken) {
			t.Errorf("%s: the error says the token: %v", to, err)
		}
	}
	loop := &redirecting{to: map[string]string{start: start}, seen: map[string]string{}}
	api := Dial(Account{BotToken: secret.New(botToken), Transport: loop})
	if _, err := api.Fetch(t.Context(), "", session.Attachment{ID: "F1", URL: start}, io.Discard); err == nil {
		t.Error("redirected for ever")
	}
	for _, from := range []string{"https://evil.example/a", "file:///etc/passwd", "http://files.slack.com/a", "x", "https://files.slack.com:8443/a"} {
		d := &redirecting{seen: map[string]string{}}
		api := Dial(Account{BotToken: secret.New(botToken), Transport: d})
		if _, err := api.Fetch(t.Context(), "", session.Attachment{ID: "F1", URL: from}, io.Discard); err == nil || len(d.seen) > 0 {
			t.Errorf("%s was asked: %v, %v", from, d.seen, err)
		}
	}
}
