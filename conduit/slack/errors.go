package slack

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
)

const (
	defaultWait = 30 * time.Second // where Slack limits and doesn't say for how long
	planWait    = 5 * time.Minute  // where the workspace's plan allows no more messages
	scopeWait   = 5 * time.Minute  // where the app may not post, until the operator has acted
	longestWait = time.Hour        // nothing that Slack says is believed for longer
)

// waitSeconds makes of what stands in a Retry-After header a number of seconds that the client library can read.
func waitSeconds(header string) string {
	s, err := strconv.ParseFloat(strings.TrimSpace(header), 64)
	if err != nil || !(s >= 0) {
		s = defaultWait.Seconds()
	}
	return strconv.Itoa(int(math.Ceil(min(s, longestWait.Seconds()))))
}

// dead reports whether Slack refuses a token for good, or lets it do nothing at all.
func dead(code string) bool {
	switch code {
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "user_removed_from_team",
		"team_disabled", "app_uninstalled", "missing_scope", "not_allowed_token_type", "forbidden_team", "team_access_not_granted":
		return true
	}
	return false
}

// classOf says what an error code of chat.postMessage means. "internal_error" and "fatal_error" are unknown outcomes: of both Slack
// says that some aspect of the call may have succeeded. A code that isn't known is taken for a refusal of the part, which ends in a
// note, rather than of the conversation, which would end that for good.
func classOf(code string) conduit.Class {
	if dead(code) {
		return conduit.Dead
	}
	switch code {
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return conduit.RetryAfter
	case "service_unavailable", "request_timeout", "team_added_to_org":
		return conduit.Retry
	case "internal_error", "fatal_error":
		return conduit.Unknown
	case "msg_too_long", "msg_blocks_too_long":
		return conduit.TooBig
	}
	if closed(code) {
		return conduit.Gone
	}
	return conduit.Malformed
}

// closed reports whether the bot can't write to a conversation, for good: because of the conversation, or of what an administrator
// has set for it.
func closed(code string) bool {
	switch code {
	case "channel_not_found", "not_in_channel", "is_archived", "is_inactive", "user_not_in_channel", "cannot_reply_to_message",
		"thread_not_found", "user_not_found", "user_disabled", "cannot_dm_bot", "messages_tab_disabled", "as_user_not_supported",
		"no_permission", "access_denied", "org_login_required", "ekm_access_denied", "enterprise_is_restricted":
		return true
	}
	return strings.HasPrefix(code, "restricted_action")
}

// classify turns an error of the client library into a conduit's. A call that may have reached Slack and has no readable answer is
// an unknown outcome, also where a proxy answered in Slack's place.
func classify(err error) *conduit.Error {
	var limited *slackgo.RateLimitedError
	var code slackgo.SlackErrorResponse
	var status slackgo.StatusCodeError
	var known *conduit.Error
	switch {
	case errors.As(err, &known):
		return &conduit.Error{Class: known.Class, After: known.After, Err: err}
	case errors.As(err, &limited):
		return &conduit.Error{Class: conduit.RetryAfter, After: max(limited.RetryAfter, time.Second), Err: err}
	case errors.As(err, &code):
		return ofCode(code, err)
	case errors.As(err, &status):
		return ofStatus(status.Code, err)
	case neverSent(err):
		return &conduit.Error{Class: conduit.Retry, Err: err}
	}
	return &conduit.Error{Class: conduit.Unknown, Err: err}
}

func ofCode(code slackgo.SlackErrorResponse, err error) *conduit.Error {
	e := &conduit.Error{Class: classOf(code.Err), Err: err}
	if e.Class == conduit.RetryAfter {
		e.After = defaultWait
	}
	if code.Err == "message_limit_exceeded" { // of a plan, not of a moment: trying soon is of no use
		e.After = planWait
	}
	return e
}

// withScopes adds to a missing_scope what Slack says of the scopes.
func withScopes(err error) error {
	var code slackgo.SlackErrorResponse
	if !errors.As(err, &code) || code.Needed == "" {
		return err
	}
	return fmt.Errorf("%w (needed %s, provided %s)", err, code.Needed, code.Provided)
}

func ofStatus(code int, err error) *conduit.Error {
	e := &conduit.Error{Class: conduit.Retry, Err: err}
	switch {
	case code == http.StatusTooManyRequests:
		e.Class, e.After = conduit.RetryAfter, defaultWait
	case code == http.StatusRequestEntityTooLarge:
		e.Class = conduit.TooBig
	case code >= 500, code == http.StatusRequestTimeout: // proxies say 503 too when Slack was cut off in the middle of its answer
		e.Class = conduit.Unknown
	}
	return e
}

// neverSent reports whether a call surely didn't leave this machine.
func neverSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// codeOf returns the error code that Slack answered with, or "".
func codeOf(err error) string {
	var code slackgo.SlackErrorResponse
	if errors.As(err, &code) {
		return code.Err
	}
	return ""
}
