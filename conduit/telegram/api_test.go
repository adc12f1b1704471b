package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/internal/secret"
)

// dialTo is an API for a server that f plays.
func dialTo(t *testing.T, f http.HandlerFunc) *API {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	return Dial(Account{Token: secret.New(token), APIURL: web.URL, Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute})
}

// Facts A6.18, B.6.
func TestAnswersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   int
		text   string
	}{
		{502, "<html>Bad Gateway</html>", 502, "Bad Gateway"},
		{502, "", 502, "Bad Gateway"},
		{404, "<html>nginx</html>", 404, "Not Found"},
		{200, "", 200, "the answer is not one of the Bot API"},
		{200, "{}", 200, "the answer is not one of the Bot API"},
		{200, `"x"`, 200, "the answer is not one of the Bot API"},
		{200, `{"ok":true,"result":{`, 200, "the answer is not one of the Bot API"},
		{302, "", 302, "Found"},
		{400, `{"ok":false,"error_code":400,"description":"Bad Request: x"}`, 400, "Bad Request: x"},
	} {
		api := dialTo(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := api.call(t.Context(), "getMe", nil)
		var e *callError
		if !errors.As(err, &e) || e.code != c.code || e.text != c.text || e.dead {
			t.Errorf("%d %q: %v", c.status, c.body, err)
		}
	}
}

// A connection that leads nowhere is found out before a call on it gives up, so that the next try has another one.
// Facts B.17.
func TestDeadConnectionsAreFoundInTime(t *testing.T) {
	h := transport().HTTP2
	if d := h.SendPingTimeout + h.PingTimeout; h.SendPingTimeout <= 0 || h.PingTimeout <= 0 || d >= callTimeout {
		t.Errorf("found after %v", d)
	}
}

// Facts A6.17.
func TestRetryAfterIsReadFromTheHeaderOfAPage(t *testing.T) {
	api := dialTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		_, _ = io.WriteString(w, "<html>")
	})
	_, err := api.call(t.Context(), "sendMessage", nil)
	if e := asCall(err).posting(); e.After != 7*time.Second {
		t.Errorf("%v after %v", e, e.After)
	}
}

func TestMe(t *testing.T) {
	body := `{"ok":true,"result":{"id":42,"username":"OreBot","can_read_all_group_messages":true}}`
	api := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/bot"+token+"/getMe" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		_, _ = io.WriteString(w, body)
	})
	if me, err := api.Me(t.Context()); err != nil || me.ID != 42 || me.Username != "OreBot" || !me.ReadsAll {
		t.Errorf("%+v %v", me, err)
	}
	body = `{"ok":true,"result":[]}`
	if me, err := api.Me(t.Context()); err == nil {
		t.Errorf("%+v", me)
	}
}

// Nothing that goes wrong on the way tells the token.
// Facts B.1; report 42.
func TestNoErrorTellsTheToken(t *testing.T) {
	cut := dialTo(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	half := dialTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
		panic(http.ErrAbortHandler)
	})
	slow := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: mute{}, Timeout: 20 * time.Millisecond})
	echo := dialTo(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":"no %s"}`, r.URL.Path)
	})
	junk := dialTo(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	loop := dialTo(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	to := func(url string, tr http.RoundTripper) *API {
		return Dial(Account{Token: secret.New(token), APIURL: url, Transport: tr})
	}
	for name, c := range map[string]struct {
		api  *API
		sent bool
	}{
		"cut": {cut, true}, "half": {half, true}, "slow": {slow, true}, "echo": {echo, true}, "junk": {junk, true}, "loop": {loop, true},
		"refused": {to("http://127.0.0.1:1", nil), false}, "no host": {to("http://", nil), false},
		"no url": {to("http://a b", nil), false}, "control": {to("http://\x7f", nil), false}, "percent": {to("http://127.0.0.1:1/%s%d", nil), false},
		"dns": {to("http://nowhere.invalid", failing{&net.DNSError{Err: "no such host", Name: "nowhere.invalid"}}), false},
		"url": {to("http://x", failing{&url.Error{Op: "Post", URL: "http://x/bot" + token + "/getMe", Err: io.EOF}}), false},
	} {
		_, err := c.api.Me(t.Context())
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%v %q", err, err.Error())} {
			noToken(t, text)
		}
		if e := asCall(err); e.sent != c.sent {
			t.Errorf("%s: sent %v (%v)", name, e.sent, err)
		}
	}
}

// silence takes a request and says nothing until the client has left, which a server notices once the body is read.
func silence(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// mute is a transport that has a connection on which nothing comes back.
type mute struct{}

func (mute) RoundTrip(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
	<-req.Context().Done()
	return nil, req.Context().Err()
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// deadIdle is a transport whose idle connection proves dead before anything is written to it, and that can't make another one.
type deadIdle struct{}

func (deadIdle) RoundTrip(req *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(req.Context())
	trace.GetConn("api")
	trace.GotConn(httptrace.GotConnInfo{Reused: true})
	trace.GetConn("api")
	return nil, errors.New("dial: refused")
}

// What was surely not sent isn't taken for what may have arrived.
// Facts A6.19; report 10.
func TestADeadIdleConnectionSendsNothing(t *testing.T) {
	api := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: deadIdle{}})
	if e := post(t, api, part("x")); e.Class != conduit.Retry {
		t.Errorf("%v", e)
	}
}

// Facts B.3, B.17.
func TestACallEndsWithItsContext(t *testing.T) {
	api := dialTo(t, silence)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := api.call(ctx, "getMe", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	api.account.Timeout = 10 * time.Millisecond
	if _, err := api.call(t.Context(), "getMe", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestAPrintedAPIIsSilent(t *testing.T) {
	a := Account{Token: secret.New(token), APIURL: "http://x"}
	noToken(t, fmt.Sprintf("%+v %#v %v", a, a, Dial(a).account))
	if !strings.Contains(fmt.Sprintf("%+v", a), "http://x") {
		t.Error("nothing is printed")
	}
}
