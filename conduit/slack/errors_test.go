package slack

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/internal/secret"
)

// TestErrorTable is table A7 of what Slack's codes mean, and every other way in which a call can fail.
// Facts A6.2, A7.1, A7.2, A7.3, A7.4, A7.8, A7.9, A7.11, A7.12, B.11, B.12, O.8.
func TestErrorTable(t *testing.T) {
	rows := map[conduit.Class]string{
		conduit.Dead: "invalid_auth not_authed account_inactive token_revoked token_expired user_removed_from_team team_disabled " +
			"missing_scope not_allowed_token_type team_access_not_granted",
		conduit.Gone: "no_permission access_denied org_login_required ekm_access_denied enterprise_is_restricted messages_tab_disabled " +
			"as_user_not_supported channel_not_found not_in_channel is_archived is_inactive user_not_in_channel cannot_reply_to_message " +
			"restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel " +
			"restricted_action_non_threadable_channel restricted_action_thread_locked user_not_found cannot_dm_bot",
		conduit.TooBig:     "msg_too_long msg_blocks_too_long",
		conduit.Malformed:  "invalid_blocks invalid_blocks_format markdown_text_conflict block_mismatch invalid_arguments unsupported no_text a_new_code",
		conduit.RetryAfter: "ratelimited rate_limited message_limit_exceeded",
		conduit.Retry:      "service_unavailable request_timeout team_added_to_org",
		conduit.Unknown:    "internal_error fatal_error",
	}
	for class, codes := range rows {
		for _, code := range strings.Fields(codes) {
			e := classify(fmt.Errorf("slack: %w", slackgo.SlackErrorResponse{Err: code}))
			if e.Class != class || (e.After > 0) != (class == conduit.RetryAfter) {
				t.Errorf("%s: %s after %v, want %s", code, e.Class, e.After, class)
			}
		}
	}
	if e := classify(slackgo.SlackErrorResponse{Err: "message_limit_exceeded"}); e.After != planWait {
		t.Errorf("message_limit_exceeded: after %v", e.After)
	}
	scopes := withScopes(fmt.Errorf("x: %w", slackgo.SlackErrorResponse{Err: "missing_scope", Needed: "chat:write", Provided: "users:read"}))
	if got := scopes.Error(); got != "x: missing_scope (needed chat:write, provided users:read)" || codeOf(scopes) != "missing_scope" {
		t.Errorf("the scopes are told as %q", got)
	}
	for header, want := range map[string]string{
		"": "30", "soon": "30", "-1": "30", "NaN": "30", "Wed, 21 Oct 2026 07:28:00 GMT": "30", "0": "0", "7": "7", " 7 ": "7", "1.5": "2",
		"999999999999999999999": "3600", "inf": "3600",
	} {
		if got := waitSeconds(header); got != want {
			t.Errorf("Retry-After %q: %s, want %s", header, got, want)
		}
	}
	_, number := strconv.ParseInt("soon", 10, 64)
	for _, c := range []struct {
		err   error
		class conduit.Class
		after time.Duration
	}{
		{&slackgo.RateLimitedError{RetryAfter: 7 * time.Second}, conduit.RetryAfter, 7 * time.Second},
		{&slackgo.RateLimitedError{}, conduit.RetryAfter, time.Second},
		{slackgo.StatusCodeError{Code: 429}, conduit.RetryAfter, defaultWait},
		{number, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 500}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 502}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 503}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 504}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 408}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 413}, conduit.TooBig, 0},
		{slackgo.StatusCodeError{Code: 407}, conduit.Retry, 0},
		{slackgo.StatusCodeError{Code: 302}, conduit.Retry, 0},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, conduit.Retry, 0},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, conduit.Unknown, 0},
		{&net.DNSError{Err: "no such host"}, conduit.Retry, 0},
		{errors.New("invalid character '<'"), conduit.Unknown, 0},
	} {
		if e := classify(fmt.Errorf("slack: %w", c.err)); e.Class != c.class || e.After != c.after {
			t.Errorf("%v: %s after %v, want %s after %v", c.err, e.Class, e.After, c.class, c.after)
		}
	}
}

// answering is a Slack that gives every call the same answer, and notes which hosts are called.
type answering struct {
	status int
	header map[string]string
	hosts  []string
}

func (a *answering) RoundTrip(req *http.Request) (*http.Response, error) {
	a.hosts = append(a.hosts, req.URL.Host)
	resp := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}
	for k, v := range a.header {
		resp.Header.Set(k, v)
	}
	return resp, nil
}

// TestOddAnswers: a limit whose header is no number is a limit all the same, and a redirect takes the token nowhere. Facts A7.11, B.11.
func TestOddAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer answering
		class  conduit.Class
		after  time.Duration
	}{
		"limit":    {answering{status: 429, header: map[string]string{"Retry-After": "soon"}}, conduit.RetryAfter, defaultWait},
		"fraction": {answering{status: 429, header: map[string]string{"Retry-After": "2.5"}}, conduit.RetryAfter, 3 * time.Second},
		"age":      {answering{status: 429, header: map[string]string{"Retry-After": "99999999"}}, conduit.RetryAfter, time.Hour},
		"redirect": {answering{status: 302, header: map[string]string{"Location": "https://evil.example/"}}, conduit.Retry, 0},
	} {
		api := Dial(Account{BotToken: secret.New(botToken), Transport: &c.answer})
		api.me = me
		p := &poster{api: api}
		_, posted := p.Post(t.Context(), "slack:T1/D1", conduit.Item{}, conduit.Part{Body: body{text: "x"}})
		_, _, found := p.Find(t.Context(), "slack:T1/D1", conduit.Item{}, 0)
		for _, err := range []error{posted, found} {
			var e *conduit.Error
			if !errors.As(err, &e) || e.Class != c.class || e.After != c.after {
				t.Errorf("%s: %v; want %s after %v", name, err, c.class, c.after)
			}
		}
		for _, h := range c.answer.hosts {
			if h != "slack.com" {
				t.Errorf("%s: %s was called", name, h)
			}
		}
	}
}
