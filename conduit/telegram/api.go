package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/internal/secret"
)

// Time-outs of calls.
const (
	callTimeout = 30 * time.Second
	dialTimeout = 10 * time.Second
)

// Account says which bot to be, and where.
type Account struct {
	Token     secret.String
	APIURL    string            // of the Bot API server, such as "https://api.telegram.org", without a slash at the end
	Transport http.RoundTripper // nil: one of its own, which gives up dialling after 10 s
	Timeout   time.Duration     // of a call that isn't a poll; 0: 30 s
}

// API calls the Bot API's methods for one account. It wraps the library's client with what that lacks: a context for each call, errors
// with the HTTP status where a proxy answers with HTML, and no token in any text. It is safe for concurrent use.
type API struct {
	account  Account
	client   secret.Client
	endpoint string
	creds    credentials
	pauses   *conduit.Pauses // of chats, by their id: whichever method was told to wait
	admins   admins
	moves    atomic.Pointer[moves] // nil: no chat has moved
	paces    *conduit.Paces        // of posts, where they are paced
}

// Dial returns the API of an account. It doesn't use the network.
func Dial(a Account) *API {
	if a.Timeout <= 0 {
		a.Timeout = callTimeout
	}
	if a.Transport == nil {
		a.Transport = transport()
	}
	redactor := secret.NewRedactor(a.Token)
	hc := &http.Client{Transport: a.Transport, CheckRedirect: stay}
	return &API{
		account:  a,
		client:   secret.Client{HTTP: hc, Redactor: redactor},
		endpoint: strings.ReplaceAll(strings.TrimRight(a.APIURL, "/"), "%", "%%") + "/bot%s/%s",
		pauses:   conduit.NewPauses(nil),
		paces:    conduit.NewPacer(allPosts, paceOf),
	}
}

// transport pings connections that are silent: HTTP/2 puts all calls on one, and would go on with it for many minutes when the network
// behind it has gone.
func transport() *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: d.DialContext, TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 10 * time.Second},
	}
}

// stay keeps the client where it is: following a redirect would tell the token to whoever it leads to.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Me is what getMe tells of the bot.
type Me struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	// ReadsAll is unset in privacy mode, where a bot gets only the messages of a group that are meant for it. A bot that is an
	// administrator of a group gets all of them anyway (docs: Features, privacy mode).
	ReadsAll bool `json:"can_read_all_group_messages"`
	Joins    bool `json:"can_join_groups"`
	// Topics is set where private chats with the bot may have topics.
	Topics bool `json:"has_topics_enabled"`

	bare func(name string) bool // Config.Bare
}

// Me asks who the bot is.
func (a *API) Me(ctx context.Context) (Me, error) {
	raw, err := a.call(ctx, "getMe", nil)
	if err != nil {
		return Me{}, err
	}
	return meOf(raw)
}

func meOf(raw json.RawMessage) (Me, error) {
	var me Me
	if err := json.Unmarshal(raw, &me); err != nil || me.ID == 0 {
		return Me{}, &callError{method: "getMe", sent: true, err: fmt.Errorf("it names nobody: %w", errNoAnswer)}
	}
	return me, nil
}

// call calls a method within the account's time-out and returns its result. An error is a *callError.
func (a *API) call(ctx context.Context, method string, p tgbotapi.Params) (json.RawMessage, error) {
	return a.callFor(ctx, a.account.Timeout, method, p)
}

func (a *API) callFor(ctx context.Context, limit time.Duration, method string, p tgbotapi.Params) (json.RawMessage, error) {
	return a.request(ctx, limit, method, p, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return bot.MakeRequest(method, p)
	})
}

// upload calls a method with a file among its parameters.
func (a *API) upload(ctx context.Context, method string, p tgbotapi.Params, field, name string, data []byte) (json.RawMessage, error) {
	files := []tgbotapi.RequestFile{{Name: field, Data: tgbotapi.FileBytes{Name: name, Bytes: data}}}
	return a.request(ctx, a.account.Timeout, method, p, func(bot *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		resp, err := bot.UploadFiles(method, p, files)
		var e *tgbotapi.Error
		if errors.As(err, &e) && resp != nil {
			e.Code = resp.ErrorCode // which the library leaves out here
		}
		return resp, err
	})
}

// request makes one request with a client of the library that lives for it only. A chat that is told to wait, by whatever method,
// waits with all of them.
func (a *API) request(ctx context.Context, limit time.Duration, method string, p tgbotapi.Params,
	send func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) (json.RawMessage, error) {
	return a.through(ctx, &exchange{client: a.client}, limit, method, p, send)
}

// through is request with an exchange that the caller looks at afterwards.
func (a *API) through(ctx context.Context, x *exchange, limit time.Duration, method string, p tgbotapi.Params,
	send func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) (json.RawMessage, error) {
	a.readdress(p)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	x.ctx = ctx
	bot := &tgbotapi.BotAPI{Token: a.account.Token.Reveal(), Client: x}
	bot.SetAPIEndpoint(a.endpoint)
	resp, err := send(bot)
	if err == nil {
		a.creds.accepted()
		return resp.Result, nil
	}
	e := a.creds.judge(x.failure(method, err))
	if chat := p["chat_id"]; e.code == http.StatusTooManyRequests && chat != "" {
		a.pauses.Told(chat, max(e.wait(), time.Second))
	}
	return nil, e
}

// readdress makes a call about a chat that has moved one about what it has become.
func (a *API) readdress(p tgbotapi.Params) {
	m := a.moves.Load()
	chat, err := strconv.ParseInt(p["chat_id"], 10, 64)
	if m == nil || err != nil {
		return
	}
	if now, _ := m.now(chat); now != chat {
		p["chat_id"] = decimal(now)
	}
}
