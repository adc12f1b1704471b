package ollama

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ollama/ollama/api"

	"orebot/core/provider"
)

// fail makes the error of a call to h out of a kind and a cause, without secrets.
func (p *Provider) fail(h *host, model string, kind provider.Kind, cause error) *provider.Error {
	if r, ok := errors.AsType[*refusal](cause); ok { // so that nothing is left for those who unwrap
		r.text = short(p.redact.Redact(unquoted(r.text))) // in this order: half a secret isn't recognised
	}
	return &provider.Error{Kind: kind, Model: model, Host: h.name, Err: p.redact.Error(cause)}
}

// transportKind tells a server that couldn't be reached from one that broke off.
func transportKind(err error) provider.Kind {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return provider.KindUnreachable
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return provider.KindUnreachable
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return provider.KindUnreachable
	}
	// These have no type that could be asked for.
	if containsAny(err.Error(), "TLS handshake timeout", "HTTP response to HTTPS client", "malformed HTTP") {
		return provider.KindUnreachable
	}
	return provider.KindIncomplete
}

// refusal is what a server says instead of an answer, or in the middle of one.
type refusal struct {
	status int // zero in the middle of an answer
	after  time.Duration
	text   string // what the server says; fail shortens it
	json   bool   // it is Ollama that says it, not something in front of it
}

// Error returns status and text.
func (r *refusal) Error() string {
	switch {
	case r.status == 0:
		return r.text
	case r.text == "":
		return "status " + strconv.Itoa(r.status)
	}
	return "status " + strconv.Itoa(r.status) + ": " + r.text
}

// newRefusal reads the answer's status, Retry-After and the first 64 KiB of its body.
func newRefusal(resp *http.Response, body []byte) *refusal {
	r := &refusal{status: resp.StatusCode}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		r.after = time.Duration(min(n, 3600)) * time.Second
	}
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil {
		r.json, r.text = true, errorText(e.Error)
		return r
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n"))
	r.text = string(line)
	return r
}

// errorText returns the text of an error, which is a string or, behind some proxies, an object with a message.
func errorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// unquoted leaves out what a server quotes of the conversation: the call of a tool that it couldn't read, which the model made out of what
// people wrote ("error parsing tool call: raw='…', err=…"). Such a text belongs in no log.
func unquoted(text string) string {
	for _, sign := range []string{"error parsing tool call", "failed to parse function call", "invalid argument format", "failed to parse value for",
		"invalid object entry"} {
		if at := strings.Index(text, sign); at >= 0 {
			return text[:at+len(sign)] + ": …"
		}
	}
	return text
}

// short makes a text of a stranger fit for one log line.
func short(s string) string {
	const limit = 300
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// kind says what a refusal means. The statuses are those of Ollama 0.17; that a server answers 500 to faulty requests and
// to its own faults alike is told apart by what it says.
func (r *refusal) kind() provider.Kind {
	switch {
	case tooLong(r.text):
		return provider.KindTooLong
	case r.status == http.StatusRequestEntityTooLarge: // a proxy's limit of bytes: Ollama has none
		return provider.KindTooBig
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		return provider.KindDenied
	case r.status == http.StatusNotFound && r.json && strings.Contains(r.text, "model"):
		return provider.KindModelMissing
	case r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests:
		return provider.KindBusy
	case r.status < 500:
		return provider.KindRefused
	case !r.json: // a proxy whose server is gone
		return provider.KindUnreachable
	case noLoad(r.text):
		return provider.KindNoLoad
	case permanent(r.text):
		return provider.KindRefused
	case strings.Contains(r.text, repeatLimit):
		return provider.KindRepeats
	default:
		return provider.KindIncomplete
	}
}

// repeatLimit is in what servers behind 0.17 say when they end an answer of one token: "prediction aborted, token repeat limit reached".
const repeatLimit = "token repeat limit"

func containsAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// tooLong recognises the prompt that doesn't fit: "the input length exceeds the context length", and newer wordings.
func tooLong(text string) bool {
	return strings.Contains(text, "context") && containsAny(text, "context length", "context size", "context window") &&
		containsAny(text, "exceed", "longer than", "too long")
}

// permanent recognises a status 500 that the same request will meet again.
func permanent(text string) bool {
	return containsAny(text, "must be of type", "invalid format", "invalid JSON schema", "system message must be",
		"no user query found", "does not support")
}

// noLoad recognises that the model can't be loaded: "model requires more system memory (28.6 GiB) than is available (23.0 GiB)", "unable to
// load model: …", "model failed to load, this may be due to resource limitations". It isn't the request that is at fault. A runner that
// ran out of memory later is none of these: that may be the prompt's fault.
func noLoad(text string) bool {
	return containsAny(text, "more system memory", "unable to load model", "model failed to load")
}

// lineKind says what an error in the stream means.
func lineKind(text string) provider.Kind {
	switch {
	case tooLong(text):
		return provider.KindTooLong
	case noLoad(text):
		return provider.KindNoLoad
	case permanent(text):
		return provider.KindRefused
	case strings.Contains(text, "server busy"):
		return provider.KindBusy
	case strings.Contains(text, repeatLimit):
		return provider.KindRepeats
	default:
		return provider.KindIncomplete
	}
}

// apiError classifies an error of the official client.
func (p *Provider) apiError(ctx context.Context, h *host, model string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[api.StatusError](err); ok {
		// The client keeps of a page that isn't JSON its first line only.
		r := &refusal{status: e.StatusCode, text: e.ErrorMessage, json: !strings.HasPrefix(e.ErrorMessage, "<")}
		return p.fail(h, model, r.kind(), r)
	}
	if e, ok := errors.AsType[api.AuthorizationError](err); ok {
		return p.fail(h, model, provider.KindDenied, &refusal{status: e.StatusCode})
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return p.fail(h, model, provider.KindUnreachable, errNotOllama)
	}
	return p.fail(h, model, transportKind(err), err)
}

var errNotOllama = errors.New("what answers there isn't Ollama")
