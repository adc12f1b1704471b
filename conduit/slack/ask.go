package slack

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/internal/secret"
)

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 32 << 20

// ask calls a method of the Web API, and returns the answer as it stands there: the client library refuses a
// whole page of messages for one odd field in one of them, which would be the look-up's end. Errors are the client library's.
func (api *API) ask(ctx context.Context, method string, form url.Values) (object, error) {
	return api.askAs(ctx, api.account.BotToken, method, form)
}

// askAs is ask with a token of one's choice.
func (api *API) askAs(ctx context.Context, token secret.String, method string, form url.Values) (object, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, api.account.APIURL+method, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	resp, err := api.httpClient().Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := refusedBy(resp); err != nil {
		return nil, err
	}
	return readAnswer(resp.Body)
}

// refusedBy is the error of an answer that isn't Slack's yes or no.
func refusedBy(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusTooManyRequests:
		s, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &slackgo.RateLimitedError{RetryAfter: time.Duration(s) * time.Second}
	}
	return slackgo.StatusCodeError{Code: resp.StatusCode, Status: resp.Status}
}

func readAnswer(body io.Reader) (object, error) {
	var o object
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&o); err != nil {
		return nil, err
	}
	switch code := o.text("error"); {
	case o.flag("ok"):
		return o, nil
	case code != "":
		return nil, slackgo.SlackErrorResponse{Err: code, Needed: o.text("needed"), Provided: o.text("provided")}
	}
	return nil, errNoAnswer
}
