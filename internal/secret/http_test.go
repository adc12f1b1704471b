package secret_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"orebot/internal/secret"
)

// shortToken has no shape that a pattern would know: only the list of secrets covers it.
const shortToken = "77:short"

func client(rt http.RoundTripper) secret.Client {
	r := secret.NewRedactor(secret.New(shortToken))
	return secret.Client{HTTP: &http.Client{Transport: secret.Transport(rt, r)}, Redactor: r}
}

func TestClientErrorsCarryNoToken(t *testing.T) {
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(cut.Close)
	down := httptest.NewServer(nil)
	down.Close()
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(loop.Close)
	for name, base := range map[string]string{"cut": cut.URL, "down": down.URL, "loop": loop.URL, "scheme": "gopher://x"} {
		req, _ := http.NewRequest(http.MethodGet, base+"/bot"+shortToken+"/getMe?secret="+url.QueryEscape(shortToken), nil)
		_, err := client(nil).Do(req)
		assertClean(t, name, err)
	}
}

// assertClean walks the whole chain: each link that a caller may print must be free of the token.
func assertClean(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: no error", name)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if s := fmt.Sprintf("%v %+v", e, e); strings.Contains(s, "short") {
			t.Errorf("%s: %s", name, s)
		}
	}
	var ue *url.Error
	if !errors.As(err, &ue) || strings.Contains(ue.URL, "short") {
		t.Errorf("%s: %#v is no clean *url.Error", name, err)
	}
}

func TestErrorKeepsWhatItMeans(t *testing.T) {
	r := secret.NewRedactor(secret.New(shortToken))
	inner := &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
	raw := &url.Error{Op: "Get", URL: "https://h/bot" + shortToken + "/getMe?x=1", Err: inner}
	err := r.Error(fmt.Errorf("telegram: getMe: %w", raw))
	if want := `telegram: getMe: Get "https://h/bot[redacted]/getMe": dial tcp: context deadline exceeded`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	var op *net.OpError
	var timeout net.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &op) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("the chain of %v is broken", err)
	}
	assertClean(t, "wrapped", err)
}

func TestErrorLeavesCleanOnesAlone(t *testing.T) {
	r := secret.NewRedactor(secret.New(shortToken))
	if r.Error(nil) != nil {
		t.Error("nil became an error")
	}
	plain := errors.New("plain")
	if got := r.Error(plain); got != plain {
		t.Errorf("got %v", got)
	}
	if got := r.Error(fmt.Errorf("about %s: %w", shortToken, plain)); got.Error() != "about [redacted]: plain" || !errors.Is(got, plain) {
		t.Errorf("got %v", got)
	}
	if got := r.Error(&url.Error{Op: "parse", URL: ":" + shortToken, Err: plain}); strings.Contains(got.Error(), "short") {
		t.Errorf("got %v", got)
	}
}
