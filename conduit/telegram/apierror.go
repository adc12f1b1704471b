package telegram

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"orebot/conduit"
)

// callError is a call that failed: either the server refused it (code and text), or there is no answer (err).
type callError struct {
	method     string
	code       int    // the answer's error_code; 0: there is no answer
	text       string // its description
	odd        bool   // the answer came from something in between, such as a proxy
	retryAfter int    // seconds
	migrateTo  int64  // the supergroup that the chat has become
	sent       bool   // the server may have got the request
	err        error
	// dead: the credentials are refused for good. first: this call is the one that found out.
	dead, first bool
}

// Error names the method, and what the server said or what happened on the way.
func (e *callError) Error() string {
	if e.code == 0 {
		return "telegram: " + e.method + ": " + e.err.Error()
	}
	return fmt.Sprintf("telegram: %s: %s (%d)", e.method, e.text, e.code)
}

// Unwrap returns what happened on the way, if that was it.
func (e *callError) Unwrap() error { return e.err }

// says reports whether the description contains one of the texts. The server writes the first letter of a description small where
// it puts a prefix in front, and some come in capitals: case doesn't count.
func (e *callError) says(texts ...string) bool {
	have := strings.ToLower(e.text)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(have, t) })
}

// wait is how long the server asked to be left alone.
func (e *callError) wait() time.Duration { return time.Duration(e.retryAfter) * time.Second }

// final reports whether the server has refused the call, so that another try of it comes to the same.
func (e *callError) final() bool {
	return e.dead || !e.odd && e.code >= 400 && e.code < 500 && e.code != http.StatusTooManyRequests
}

// What descriptions mean for a part.
var (
	saysMalformed = []string{"can't parse entities", "can't parse messageentity", "entity url", "entity begins", "entity ends",
		"entities_too_long", "message text is empty", "text must be non-empty", "unsupported parse_mode"}
	saysTooBig = []string{"message is too long", "text is too long", "caption is too long", "message_too_long"}
	// saysGone are the server's own refusals, and those that it hands on in capitals (docs: the errors of messages.sendMessage): most of
	// them say what an administrator of the group, or the person, doesn't allow.
	saysGone = []string{"chat not found", "chat_id is empty", "topic_closed", "topic_deleted", "message thread not found",
		"not enough rights to send text", "have no rights to send", "no write access to the chat", "need administrator rights",
		"chat was deleted", "chat_write_forbidden", "chat_restricted", "chat_forbidden", "chat_send_plain_forbidden",
		"chat_guest_send_forbidden", "chat_admin_required", "channel_private", "user_banned_in_channel", "user_is_blocked",
		"you_blocked_user", "input_user_deactivated", "user not found", "chat_id_invalid", "peer_id_invalid"}
)

// class is what a failed post means for its courier. A gateway that waited in vain (504) gave the request away: nobody knows what
// became of it. The other failures of servers and gateways come instead of an answer, and are taken for none.
func (e *callError) class() conduit.Class {
	switch {
	case e.code == 0 && !e.sent:
		return conduit.Retry
	case e.code == 0, e.code == http.StatusOK, e.code == http.StatusGatewayTimeout:
		return conduit.Unknown
	case e.code == http.StatusTooManyRequests:
		return conduit.RetryAfter
	case e.code == http.StatusRequestEntityTooLarge:
		return conduit.TooBig
	case e.odd:
		return conduit.Retry
	case e.dead:
		return e.refused()
	case e.code == http.StatusForbidden:
		return conduit.Gone
	case e.code == http.StatusBadRequest:
		return e.badRequest()
	}
	return conduit.Retry
}

// refused lets one courier tell of refused credentials; for the others there is nothing to tell any more, and nothing was posted.
func (e *callError) refused() conduit.Class {
	if e.first {
		return conduit.Dead
	}
	return conduit.Retry
}

// badRequest sorts the refusals that are about this one message. What isn't known is about its form: the courier makes it plainer.
func (e *callError) badRequest() conduit.Class {
	switch {
	case e.migrateTo != 0:
		return conduit.Moved
	case e.says(saysTooBig...):
		return conduit.TooBig
	case e.says(saysMalformed...):
		return conduit.Malformed
	case e.says(saysGone...):
		return conduit.Gone
	}
	return conduit.Malformed
}

// posting is the error as couriers understand it.
func (e *callError) posting() *conduit.Error {
	out := &conduit.Error{Class: e.class(), Err: e}
	switch out.Class {
	case conduit.RetryAfter:
		out.After = e.wait()
	case conduit.Moved:
		out.To = place{chat: e.migrateTo}.address()
	}
	return out
}
