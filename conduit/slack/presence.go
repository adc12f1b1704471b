package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/session"
)

// Beat is how often a sign has to be shown again: Slack lets a status stand for two minutes.
const Beat = 90 * time.Second

// The kinds of session.Presence that this package leaves. They are on disk, with the ts of the message in question.
const (
	statusSign   = "status"   // in the thread of that root; in a DM without threads, under the message being answered
	reactionSign = "reaction" // on that message
	slowSign     = "slow"     // on that message, and a message "Still working." too, whose ts follows after a blank
	queuedSign   = "queued"   // the same with a message that tells the place in line
	loadingSign  = "loading"  // and with one that says that the model is being loaded
)

const (
	workMark = "eyes"    // the reaction to a message that is being answered
	noteMark = "pencil2" // that to an edit that was noted

	metaSign = "orebot_sign" // the metadata type of a message that goes away again

	signTimeout = 10 * time.Second // for each call: what hangs is given up
	statusAgain = time.Hour        // after which a refused status is tried again
	clearTries  = 4
)

var _ session.Presenter = (*API)(nil)

// Show sets the status of the thread that a message stands in; where Slack takes none, it puts a reaction on the message. A status is
// keyed by its thread, never by its channel: the signs of two threads don't touch each other. Nothing waits for a rate limit: a method
// that is told to be silent is.
func (api *API) Show(ctx context.Context, a session.Address, s session.Sign, shown *session.Presence) (*session.Presence, error) {
	at, err := parsePlace(a)
	root := firstTS(at.thread, s.Message)
	if err != nil || root == "" {
		return shown, err
	}
	if shown != nil && shown.Kind != statusSign && signed(*shown) == s.Message {
		return api.worry(ctx, at, s, *shown)
	}
	if shown != nil && (shown.Kind != statusSign || shown.Message != root) {
		if err := api.Clear(ctx, a, *shown); err != nil {
			return shown, err
		}
		shown = nil
	}
	return api.begin(ctx, at, root, s, shown)
}

// begin shows a sign where none is, or renews a status.
func (api *API) begin(ctx context.Context, at place, root string, s session.Sign, shown *session.Presence) (*session.Presence, error) {
	status := &session.Presence{Kind: statusSign, Message: root}
	err := api.status(ctx, at, *status, s)
	switch {
	case err == nil:
		return status, nil
	case !refusesStatus(err):
		if classify(err).Class == conduit.Unknown { // it may stand there
			shown = status
		}
		return shown, err
	case !validTS(s.Message):
		return shown, err
	}
	mark := session.Presence{Kind: reactionSign, Message: s.Message}
	if err := session.Foresee(ctx, mark); err != nil {
		return nil, err
	}
	err = api.react(ctx, "reactions.add", at, s.Message, workMark)
	if err != nil && classify(err).Class != conduit.Unknown {
		return nil, err
	}
	return &mark, err
}

// status sets a thread's status, unless Slack is known to take none: what is never set need not be foreseen.
func (api *API) status(ctx context.Context, at place, p session.Presence, s session.Sign) error {
	if err := api.signs.held(statusMethod); err != nil {
		return err
	}
	if err := session.Foresee(ctx, p); err != nil {
		return &conduit.Error{Class: conduit.Retry, Err: err}
	}
	return api.setStatus(ctx, at, p.Message, statusOf(s))
}

// worry tells people once, where there is no status, that they wait in line, that the model is being loaded, or that it takes long. What
// isn't so any more is taken back; that it takes long stands until the end.
func (api *API) worry(ctx context.Context, at place, s session.Sign, shown session.Presence) (*session.Presence, error) {
	kind := lineSign(s.Activity)
	if shown.Kind == slowSign || shown.Kind == kind {
		return &shown, nil
	}
	if lined(shown) {
		if err := api.calm(ctx, at, shown); err != nil {
			return &shown, err
		}
		shown = session.Presence{Kind: reactionSign, Message: signed(shown)}
	}
	if kind == reactionSign {
		return &shown, nil
	}
	worried := session.Presence{Kind: kind, Message: shown.Message}
	if err := session.Foresee(ctx, worried); err != nil {
		return &shown, err
	}
	ts, err := api.postSign(ctx, at, s.Line("!"))
	switch {
	case err == nil:
		worried.Message += " " + ts
		return &worried, nil
	case classify(err).Class == conduit.Unknown: // Clear looks for it
		return &worried, err
	}
	return &shown, err
}

// lineSign is the kind of Presence of what an activity is shown by, where there is no status.
func lineSign(a session.Activity) string {
	switch a {
	case session.ActivitySlow:
		return slowSign
	case session.ActivityQueued:
		return queuedSign
	case session.ActivityLoading:
		return loadingSign
	}
	return reactionSign
}

// lined reports whether a message stands beside the reaction.
func lined(p session.Presence) bool {
	return p.Kind == slowSign || p.Kind == queuedSign || p.Kind == loadingSign
}

// postSign posts a message that goes away again.
func (api *API) postSign(ctx context.Context, at place, line string) (ts string, err error) {
	err = api.quietly(ctx, "chat.postMessage", func(ctx context.Context) error {
		opts := append(looksOf(at, body{text: line}), slackgo.MsgOptionMetadata(slackgo.SlackMetadata{
			EventType: metaSign, EventPayload: map[string]any{"slow": true},
		}))
		var msg slackgo.Message
		_, ts, msg, err = api.client.PostMessageWithResponseContext(ctx, at.channel, opts...)
		if err == nil && ts == "" {
			return errNoAnswer
		}
		if err == nil && at.thread != "" && msg.Timestamp == ts && msg.ThreadTimestamp == "" { // the root is gone
			_, _, err = api.client.DeleteMessageContext(ctx, at.channel, ts)
		}
		return err
	})
	return ts, err
}

// Clear removes what Show has shown. What isn't there any more counts as removed.
func (api *API) Clear(ctx context.Context, a session.Address, shown session.Presence) error {
	at, err := parsePlace(a)
	if err != nil || !validTS(signed(shown)) {
		return err
	}
	switch shown.Kind {
	case statusSign:
		err = api.insist(ctx, func(ctx context.Context) error { return api.setStatus(ctx, at, shown.Message, "") })
		if refusesStatus(err) { // then none is there
			err = nil
		}
	case reactionSign, slowSign, queuedSign, loadingSign:
		err = api.insist(ctx, func(ctx context.Context) error {
			return api.react(ctx, "reactions.remove", at, signed(shown), workMark)
		})
		if lined(shown) {
			err = errors.Join(err, api.insist(ctx, func(ctx context.Context) error { return api.calm(ctx, at, shown) }))
		}
	}
	return err
}

// calm deletes the message that stands beside the reaction. Where its ts isn't known, it is looked for.
func (api *API) calm(ctx context.Context, at place, shown session.Presence) error {
	_, ts, known := strings.Cut(shown.Message, " ")
	p := &poster{api: api}
	if !known {
		slow := func(m object, me identity) bool {
			return mine(m, me) && m.object("metadata").text("event_type") == metaSign
		}
		var err error
		if ts, err = p.look(ctx, at, slow, conduit.Item{ReplyTo: shown.Message}); err != nil || ts == "" {
			return err
		}
	}
	_, _, err := api.client.DeleteMessageContext(ctx, at.channel, ts)
	if codeOf(err) == "message_not_found" {
		return nil
	}
	return err
}

// Noted puts a reaction on a message whose edit was noted.
func (api *API) Noted(ctx context.Context, a session.Address, message string) error {
	at, err := parsePlace(a)
	if err != nil || !validTS(message) {
		return err
	}
	return api.react(ctx, "reactions.add", at, message, noteMark)
}

// signed is the ts of the message that a sign is on.
func signed(p session.Presence) string {
	ts, _, _ := strings.Cut(p.Message, " ")
	return ts
}

func firstTS(list ...string) string {
	for _, ts := range list {
		if validTS(ts) {
			return ts
		}
	}
	return ""
}

// react adds or removes a reaction.
func (api *API) react(ctx context.Context, method string, at place, ts, name string) error {
	do := api.client.AddReactionContext
	if method == "reactions.remove" {
		do = api.client.RemoveReactionContext
	}
	err := api.quietly(ctx, method, func(ctx context.Context) error { return do(ctx, name, slackgo.NewRefToMessage(at.channel, ts)) })
	switch codeOf(err) {
	case "already_reacted", "no_reaction":
		return nil
	case "message_not_found", "channel_not_found", "not_in_channel", "is_archived", "thread_locked":
		if method == "reactions.remove" { // nobody sees it any more
			return nil
		}
	}
	return err
}

// quietly makes a call of a method unless Slack asked for silence, and notes where it does.
func (api *API) quietly(ctx context.Context, method string, call func(context.Context) error) error {
	if err := api.signs.held(method); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	err := call(ctx)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("slack: %s: %w", method, api.clean(err))
	if e := classify(err); e.Class == conduit.RetryAfter {
		api.signs.hold(method, e.After, errQuiet)
	}
	return err
}

// insist makes a call until it is done, a few times: what is left behind stays for ever.
func (api *API) insist(ctx context.Context, call func(context.Context) error) error {
	for try := 1; ; try++ {
		err := call(ctx)
		if err == nil || refusesStatus(err) || try == clearTries {
			return err
		}
		if conduit.Sleep(ctx, max(classify(err).After, time.Duration(try)*time.Second)) != nil {
			return err
		}
	}
}
