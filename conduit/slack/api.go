package slack

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/internal/secret"
)

// Account is how a workspace is reached. The tokens are required.
type Account struct {
	BotToken secret.String // xoxb-…
	AppToken secret.String // xapp-…, with connections:write
	APIURL   string        // ends with a slash; default: https://slack.com/api/

	Transport   http.RoundTripper                                                 // for the Web API; nil: http.DefaultTransport
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error) // for the WebSocket; nil: a net.Dialer's
	Proxy       func(*http.Request) (*url.URL, error)                             // for the WebSocket; nil: none
	TLS         *tls.Config                                                       // for the WebSocket; nil: the default
	Timeout     time.Duration                                                     // for each call; default 30 s
}

// API is a workspace's Web API, as one bot sees it. It is safe for concurrent use.
type API struct {
	client   *slackgo.Client
	account  Account
	redactor *secret.Redactor
	gate     *gate
	people   cache
	dms      dms
	signs    silence
	granted  *scopeWatch
	rests    silence // methods that read, see politely

	mu sync.Mutex
	me identity
}

// identity is who the bot is. The zero identity isn't known yet.
type identity struct {
	team, user, bot string
	name            string
	app             string // as the event at hand names it
}

// Dial returns the API of an account. It uses no network yet.
func Dial(a Account) *API {
	if a.APIURL == "" {
		a.APIURL = slackgo.APIURL
	}
	if a.Timeout == 0 {
		a.Timeout = 30 * time.Second
	}
	api := &API{account: a, redactor: secret.NewRedactor(a.BotToken, a.AppToken), gate: &gate{now: time.Now}, granted: &scopeWatch{}}
	api.client = slackgo.New(a.BotToken.Reveal(),
		slackgo.OptionAppLevelToken(a.AppToken.Reveal()),
		slackgo.OptionAPIURL(a.APIURL),
		slackgo.OptionHTTPClient(api.httpClient()),
		slackgo.OptionLog(log.New(io.Discard, "", 0)),
	)
	return api
}

// httpClient is what the client library makes its calls with. It follows no redirect, which would carry the token elsewhere.
func (api *API) httpClient() doer {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return doer{
		http:     &http.Client{Transport: api.account.Transport, Timeout: api.account.Timeout, CheckRedirect: stay},
		redactor: api.redactor, gate: api.gate, granted: api.granted,
	}
}

// doer makes calls whose errors carry no secret, and lets no more connections be opened than the gate allows.
type doer struct {
	http     *http.Client
	redactor *secret.Redactor
	gate     *gate
	granted  *scopeWatch
}

// Do sends a request; see http.Client.Do. An answer that says to wait always says for how long.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	opens := strings.HasSuffix(req.URL.Path, "/apps.connections.open")
	if opens {
		if err := d.gate.wait(req.Context()); err != nil {
			return nil, err
		}
	}
	resp, err := d.http.Do(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		resp.Header.Set("Retry-After", waitSeconds(resp.Header.Get("Retry-After")))
	}
	if err == nil && !opens { // there they are the app token's
		d.granted.seen(resp.Header)
	}
	return resp, d.redactor.Error(err)
}

// identify asks who the bot is, once: the answer is kept. header is that of the answer, nil where it was known.
func (api *API) identify(ctx context.Context) (me identity, header http.Header, err error) {
	api.mu.Lock()
	me = api.me
	api.mu.Unlock()
	if me != (identity{}) {
		return me, nil, nil
	}
	r, err := api.client.AuthTestContext(ctx)
	if err != nil {
		return me, nil, fmt.Errorf("slack: auth.test: %w", api.clean(err))
	}
	me = identity{team: r.TeamID, user: r.UserID, bot: r.BotID, name: r.User}
	if !validID(me.team) || !validID(me.user) {
		return identity{}, nil, fmt.Errorf("slack: auth.test: the answer names no bot of a workspace")
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.me = me
	return me, r.Header, nil
}

// maxErrorText bounds the text of an error that quotes somebody's web page.
const maxErrorText = 300

// clean returns err with a text free of secrets and of whole web pages; errors.Is and errors.As see through it.
func (api *API) clean(err error) error {
	if err == nil {
		return nil
	}
	err = api.redactor.Error(err)
	if len(err.Error()) > maxErrorText {
		return shortened{err}
	}
	return err
}

// shortened is an error whose text is cut.
type shortened struct{ error }

// Error returns the beginning of the text.
func (s shortened) Error() string {
	return strings.ToValidUTF8(s.error.Error()[:maxErrorText], "") + "…"
}

// Unwrap returns the whole error.
func (s shortened) Unwrap() error { return s.error }
