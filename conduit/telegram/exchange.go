package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/internal/secret"
)

// maxAnswer is the most that is read of an answer. Batches of updates have about 4 MiB at most (server: JsonUpdates).
const maxAnswer = 16 << 20

// exchange is one request and its answer. It is the HTTP client of a library client that lives for one call only, which is how the
// call gets its own ctx.
type exchange struct {
	client secret.Client
	ctx    context.Context
	sent   atomic.Bool // there was a connection to send the request on: the server may have got it
	odd    bool        // the answer isn't the Bot API's, but that of something in between
	after  int         // its Retry-After
	date   time.Time   // its Date; zero: it has none
}

// Do sends the request under the call's ctx and hands the library an answer that it can decode in any case.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { x.sent.Store(false) }, // again where nothing was written to a connection that proved dead
		GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) },
	}
	resp, err := x.client.Do(req.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
	if err != nil {
		return nil, err
	}
	x.date, _ = http.ParseTime(resp.Header.Get("Date"))
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close() // everything of it that counts was read
	if err != nil {
		return nil, err
	}
	if !isAnswer(body) {
		x.odd = true
		x.after, _ = strconv.Atoi(resp.Header.Get("Retry-After"))
		body = coded(resp.StatusCode)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// isAnswer tells the Bot API's answers from HTML pages, empty bodies and other JSON.
func isAnswer(body []byte) bool {
	var a struct {
		OK   bool `json:"ok"`
		Code int  `json:"error_code"`
	}
	return json.Unmarshal(body, &a) == nil && (a.OK || a.Code != 0)
}

// coded is the answer of a server that failed without words.
func coded(status int) []byte {
	text := http.StatusText(status)
	if status == http.StatusOK {
		text = "the answer is not one of the Bot API"
	}
	b, _ := json.Marshal(tgbotapi.APIResponse{ErrorCode: status, Description: text}) // plain data
	return b
}

// failure says what a call came to that isn't a success.
func (x *exchange) failure(method string, err error) *callError {
	f := &callError{method: method, odd: x.odd, retryAfter: x.after, sent: x.sent.Load()}
	var e *tgbotapi.Error
	if errors.As(err, &e) {
		f.code, f.text = e.Code, x.client.Redactor.Redact(e.Message)
		f.retryAfter, f.migrateTo = max(f.retryAfter, e.RetryAfter), e.MigrateToChatID
		return f
	}
	f.err = x.client.Redactor.Error(err)
	return f
}
