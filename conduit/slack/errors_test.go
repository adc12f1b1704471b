package slack

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
)

// TestErrorTable is table A7 of what Slack's codes mean, and every other way in which a call can fail.
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
