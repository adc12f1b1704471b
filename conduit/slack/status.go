package slack

import (
	"context"
	"errors"
	"net/http"
	"strings"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/session"
)

// statusOf is what stands behind the bot's name.
func statusOf(s session.Sign) string {
	detail := []rune(strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>&`\n\t", r) {
			return -1
		}
		return r
	}, printable(s.Detail)))
	name := string(detail[:min(len(detail), 40)])
	switch s.Activity {
	case session.ActivityQueued:
		if s.Next() {
			return "comes to you next; !stop withdraws"
		}
		return "has " + strings.ToLower(s.Ahead()) + " ahead of you; !stop withdraws"
	case session.ActivityLoading:
		return "is loading " + orElse(name, "the model") + ", can take minutes…"
	case session.ActivityTool:
		return "is using " + orElse(name, "a tool") + "…"
	case session.ActivitySlow:
		return "is still working…"
	}
	return "is thinking…"
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

const statusMethod = "assistant.threads.setStatus"

// setStatus sets a thread's status. An app that can't is asked again after an hour.
func (api *API) setStatus(ctx context.Context, at place, root, text string) error {
	err := api.quietly(ctx, statusMethod, func(ctx context.Context) error {
		return api.client.SetAssistantThreadsStatusContext(ctx, slackgo.AssistantThreadsSetStatusParameters{
			ChannelID: at.channel, ThreadTS: root, Status: text,
		})
	})
	if neverStatus(err) {
		api.signs.hold(statusMethod, statusAgain, err)
	}
	return err
}

// neverStatus reports whether Slack doesn't let the app set a status anywhere.
func neverStatus(err error) bool {
	switch codeOf(err) {
	case "unknown_method", "deprecated_endpoint", "method_deprecated", "missing_scope", "not_allowed_token_type", "feature_not_enabled":
		return true
	}
	var status slackgo.StatusCodeError
	return errors.As(err, &status) && status.Code == http.StatusNotFound
}

// refusesStatus reports whether Slack said no to a status, rather than not now.
func refusesStatus(err error) bool {
	if err == nil {
		return false
	}
	if neverStatus(err) {
		return true
	}
	switch classify(err).Class {
	case conduit.Malformed, conduit.Gone, conduit.Dead:
		return true
	}
	return false
}
