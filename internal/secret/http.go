package secret

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Error returns err with a text free of secrets, for errors of clients that put a URL into them. What errors.Is and
// errors.As find below a *url.Error is kept, and the *url.Error itself becomes one without query, user and token. Wraps
// around the *url.Error are lost to errors.As: call this where the error arises, before classifying it. Only the text
// of what Error returns is clean, not that of what a caller unwraps by hand.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	var ue *url.Error
	if !errors.As(err, &ue) {
		return r.rewrite(err)
	}
	safe := &url.Error{Op: ue.Op, URL: r.place(ue.URL), Err: r.Error(ue.Err)}
	if top, ok := err.(*url.Error); ok && top == ue {
		return safe
	}
	return &cleaned{text: r.Redact(strings.ReplaceAll(err.Error(), ue.Error(), safe.Error())), cause: safe}
}

// rewrite returns err itself where its text is clean already.
func (r *Redactor) rewrite(err error) error {
	text := err.Error()
	if clean := r.Redact(text); clean != text {
		return &cleaned{text: clean, cause: err}
	}
	return err
}

// place returns where a URL points, for a person: scheme, host and path, redacted.
func (r *Redactor) place(raw string) string {
	u, err := url.Parse(r.Redact(raw))
	if err != nil || u.Host == "" {
		return Mask
	}
	return u.Scheme + "://" + u.Host + u.Path
}

type cleaned struct {
	text  string
	cause error
}

func (c *cleaned) Error() string { return c.text }
func (c *cleaned) Unwrap() error { return c.cause }

// Transport wraps next so that its errors carry no secret. A nil next is http.DefaultTransport. An http.Client puts the
// URL around a transport's error again: use Client where the URL holds a token.
func Transport(next http.RoundTripper, r *Redactor) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{next, r}
}

type transport struct {
	next     http.RoundTripper
	redactor *Redactor
}

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	return resp, t.redactor.Error(err)
}

// Client is an http.Client whose errors carry no secret, the URL of its *url.Error included.
type Client struct {
	HTTP     *http.Client
	Redactor *Redactor
}

// Do sends req; see http.Client.Do.
func (c Client) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.HTTP.Do(req)
	return resp, c.Redactor.Error(err)
}
