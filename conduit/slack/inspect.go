package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"
)

// scopes are what the bot token should be allowed. Without one of them a part of the conduit doesn't work.
const scopes = "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history groups:read " +
	"im:history im:read im:write mpim:history mpim:read reactions:write users:read"

// missingScopes names those that an answer of Slack's doesn't list. Where it lists none at all, nothing is known.
func missingScopes(header http.Header) []string {
	granted := header.Get("X-OAuth-Scopes")
	if granted == "" {
		return nil
	}
	has := map[string]bool{}
	for g := range strings.SplitSeq(granted, ",") {
		has[strings.TrimSpace(g)] = true
	}
	var missing []string
	for _, need := range strings.Fields(scopes) {
		if !has[need] {
			missing = append(missing, need)
		}
	}
	return missing
}

// scopeWatch follows what the bot token may do: every answer lists it, so that an app which is installed again is seen to be whole.
type scopeWatch struct {
	mu   sync.Mutex
	last string
	tell func(missing []string)
}

// watch begins with what a header says, and calls tell, which mustn't call Slack, whenever a later one says something else.
func (w *scopeWatch) watch(header http.Header, tell func(missing []string)) {
	w.mu.Lock()
	w.tell, w.last = tell, ""
	w.mu.Unlock()
	w.seen(header)
}

// seen notes what an answer says. One that says nothing changes nothing.
func (w *scopeWatch) seen(header http.Header) {
	granted := header.Get("X-OAuth-Scopes")
	w.mu.Lock()
	defer w.mu.Unlock()
	if granted == "" || granted == w.last || w.tell == nil {
		return
	}
	w.last = granted
	w.tell(missingScopes(header))
}

// Inspection is what an operator wants to know of an account before the bot runs.
type Inspection struct {
	Team, Bot string    // ids
	Name      string    // of the bot
	Missing   []string  // scopes that the app lacks
	Clock     time.Time // Slack's, to the second; zero: it didn't say
}

// Inspect asks Slack about the bot token. An error's code, such as "invalid_auth", is what Refusal returns.
func (api *API) Inspect(ctx context.Context) (Inspection, error) {
	r, err := api.client.AuthTestContext(ctx)
	if err != nil {
		return Inspection{}, fmt.Errorf("slack: auth.test: %w", api.clean(err))
	}
	i := Inspection{Team: r.TeamID, Bot: r.UserID, Name: r.User, Missing: missingScopes(r.Header)}
	i.Clock, _ = http.ParseTime(r.Header.Get("Date"))
	return i, nil
}

// InspectApp asks Slack whether the app token may open connections. None is opened: an app has a connection, and a bot that runs loses
// events to it, only once somebody connects to the address that Slack gives; this one is thrown away. Errors are like Inspect's.
func (api *API) InspectApp(ctx context.Context) error {
	_, err := api.ticket(ctx)
	return err
}

// Refusal returns what an operator can do about an error with which Slack refuses credentials; "" where it is of another kind.
func Refusal(err error) string {
	if !dead(codeOf(err)) {
		return ""
	}
	return deadReason(err)
}

// revokedBy returns an error where an event says that the app was removed from the workspace, or its bot token revoked.
func revokedBy(payload []byte, me identity) error {
	var p object
	_ = json.Unmarshal(payload, &p)
	ev := p.object("event")
	switch ev.text("type") {
	case "app_uninstalled":
		return slackgo.SlackErrorResponse{Err: "app_uninstalled"}
	case "tokens_revoked":
		var bots []string
		_ = json.Unmarshal(ev.object("tokens")["bot"], &bots)
		for _, id := range bots {
			if id == me.user || id == me.bot {
				return slackgo.SlackErrorResponse{Err: "token_revoked"}
			}
		}
	}
	return nil
}
