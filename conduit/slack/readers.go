package slack

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"orebot/conduit"
	"orebot/core/session"
)

var _ session.Readers = (*API)(nil)

// Readers tells whose DM an address lies in, or the channel's name in the lists. Whose a DM is, never changes: Slack is asked once in the
// process's life (conversations.info), unless the list of DMs at start has told.
func (api *API) Readers(ctx context.Context, a session.Address) (who string, places []string, err error) {
	at, err := parsePlace(a)
	if err != nil {
		return "", nil, err
	}
	place := []string{personID(at.channel)}
	if !strings.HasPrefix(at.channel, "D") && !api.dms.has(at.channel) {
		return "", place, nil
	}
	if user := api.dms.with(at.channel); user != "" {
		return personID(user), nil, nil
	}
	o, err := api.politely(ctx, "conversations.info", url.Values{"channel": {at.channel}})
	if err != nil {
		return "", nil, untold(codeOf(err), fmt.Errorf("slack: conversations.info of %s: %w", at.channel, api.clean(err)))
	}
	c := o.object("channel")
	user := c.text("user")
	switch {
	case !c.flag("is_im"):
		return "", place, nil
	case !validID(user):
		return "", nil, fmt.Errorf("slack: conversations.info of %s names nobody", at.channel)
	}
	api.dms.note(at.channel, user)
	return personID(user), nil, nil
}

// untold is an error whose class says whether Slack won't tell for good.
func untold(code string, err error) error {
	if code == "missing_scope" || closed(code) {
		return &conduit.Error{Class: conduit.Gone, Err: err}
	}
	return err
}
