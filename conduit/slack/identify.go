package slack

import (
	"context"
	"net/http"
	"strings"
	"time"

	"orebot/core/observe"
)

// Waits between the tries of what must succeed before anything else can.
const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// scopes are those without which parts of the conduit don't work.
const scopes = "app_mentions:read channels:history chat:write groups:history im:history mpim:history users:read"

// identify asks who the bot is until Slack answers. An error means that the credentials are refused, or that ctx has ended.
func (s *Slack) identify(ctx context.Context) (identity, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		me, header, err := s.cfg.API.identify(ctx)
		switch {
		case err == nil:
			s.cfg.Health.Set(false, "connecting to Slack")
			s.checkScopes(header)
			return me, nil
		case ctx.Err() != nil:
			return identity{}, ctx.Err()
		case dead(codeOf(err)):
			s.cfg.Health.Set(false, deadReason(err))
			return identity{}, err
		}
		if wait == firstWait {
			s.log.Warn("Slack doesn't answer", observe.KeyError, err)
		}
		s.cfg.Health.Set(false, "Slack doesn't answer")
		if err := pauseFor(ctx, max(wait, classify(err).After)); err != nil {
			return identity{}, err
		}
	}
}

// checkScopes names the scopes that the app lacks. Without the header nothing is known.
func (s *Slack) checkScopes(header http.Header) {
	granted := header.Get("X-OAuth-Scopes")
	if granted == "" {
		return
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
	if len(missing) > 0 {
		s.log.Warn("Slack app lacks scopes", observe.KeyReason, strings.Join(missing, " "))
	}
}

// pauseFor waits, or returns ctx's error.
func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
