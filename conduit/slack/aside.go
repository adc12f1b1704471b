package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

const (
	responseLife = 30 * time.Minute // how long Slack takes posts to a response URL
	whisperLife  = 5 * time.Minute  // how long after somebody wrote it is likely that they still look
)

var (
	errSpent   = errors.New("the response URL takes nothing more")
	errForeign = errors.New("the response URL isn't Slack's")
)

// answersCommand reports whether an item answers a slash command or a click.
func answersCommand(it conduit.Item) bool { return it.Kind == conduit.Notice && it.ReplyURL != "" }

// wide reports whether a place is a channel as a whole, which only slash commands come from: what answers them is for one person.
func (p place) wide() bool { return p.thread == "" && !strings.HasPrefix(p.channel, "D") }

// aside shows a notice to one person, where that is wanted and can't lose it: through the response URL, while that lives, else as an
// ephemeral message. Where Slack refuses both, done is false, and the notice is to be posted for all; in a channel as a whole it is
// dropped. Neither has an id.
func (p *poster) aside(ctx context.Context, a session.Address, at place, it conduit.Item, b body) (done bool, err error) {
	if answersCommand(it) && time.Since(it.Asked) < responseLife {
		err := p.respond(ctx, it.ReplyURL, b)
		if !errors.Is(err, errSpent) {
			return err == nil, p.asideError("respond in", a, err)
		}
		p.log.Debug("response URL spent", observe.KeyAddress, string(a), observe.KeyError, err)
	}
	if at.wide() && answersCommand(it) || it.Private && !direct(at) && time.Since(it.Asked) < whisperLife {
		if done, err := p.whisper(ctx, at, it, b); done || err != nil {
			return done, p.asideError("whisper in", a, p.api.clean(err))
		}
	}
	if at.wide() && answersCommand(it) {
		p.log.Warn("answer to a slash command dropped", observe.KeyAddress, string(a), observe.KeyReason, "nobody can be told")
		return true, nil
	}
	return false, nil
}

// direct reports whether a place is in a DM, where all is for one person.
func direct(at place) bool { return strings.HasPrefix(at.channel, "D") }

// asideError is the error of what was meant for one person.
func (p *poster) asideError(doing string, a session.Address, err error) error {
	if err == nil {
		return nil
	}
	return p.judged(fmt.Errorf("slack: %s %s: %w", doing, a.Place(), err))
}

// whisper posts an ephemeral message to the asker. What Slack refuses for a reason of its own is not done.
func (p *poster) whisper(ctx context.Context, at place, it conduit.Item, b body) (done bool, err error) {
	user, ok := strings.CutPrefix(it.Asker, Name+":")
	if !ok || !validID(user) {
		return false, nil
	}
	ts, err := p.api.client.PostEphemeralContext(ctx, at.channel, user, looksOf(at, b)...)
	if err == nil && ts == "" {
		err = errNoAnswer
	}
	if err == nil {
		return true, nil
	}
	switch classify(err).Class {
	case conduit.Retry, conduit.RetryAfter, conduit.Unknown, conduit.Dead:
		return false, err
	}
	return false, nil
}

// respond posts to a response URL, which needs no token and works where the bot isn't a member. errSpent: it was used five times, is
// too old, or Slack wants nothing there. No error says the URL.
func (p *poster) respond(ctx context.Context, to string, b body) error {
	if !p.api.ours(to) {
		return fmt.Errorf("%w: %w", errSpent, errForeign)
	}
	msg := map[string]any{"response_type": "ephemeral", "replace_original": false, "text": b.text, "mrkdwn": !b.plain}
	if blocks := blocksOf(b); blocks != nil {
		msg["blocks"] = blocks
	}
	data, err := json.Marshal(msg)
	if err != nil {
		return &conduit.Error{Class: conduit.Malformed, Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %w", errSpent, errForeign)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.api.httpClient().Do(req)
	if err != nil {
		return nameless(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return responseError(resp)
}

// nameless returns an error without the URL that it is about.
func nameless(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// responseError reads what Slack answered to a post to a response URL: "ok", or a code as text or as JSON.
func responseError(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	code := string(data)
	var o object
	if json.Unmarshal(data, &o) == nil && o != nil {
		code = o.text("error")
	}
	switch status := resp.StatusCode; {
	case status == http.StatusOK && err != nil:
		return err
	case status == http.StatusOK && (code == "ok" || code == ""):
		return nil
	case status == http.StatusTooManyRequests:
		return refusedBy(resp)
	case status >= 500, status == http.StatusRequestTimeout:
		return slackgo.StatusCodeError{Code: status, Status: resp.Status}
	case status == http.StatusBadRequest, strings.HasPrefix(code, "invalid_"), code == "no_text":
		return &conduit.Error{Class: conduit.Malformed, Err: fmt.Errorf("status %d", status)}
	}
	return fmt.Errorf("%w: status %d", errSpent, resp.StatusCode)
}

// ours reports whether a URL leads to Slack, or to where the API is.
func (api *API) ours(to string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	if home, err := url.Parse(api.account.APIURL); err == nil && u.Host == home.Host && u.Scheme == home.Scheme {
		return true
	}
	return u.Scheme == "https" && (u.Host == "slack.com" || strings.HasSuffix(u.Host, ".slack.com"))
}
