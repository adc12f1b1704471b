package slack

import (
	"context"
	"strings"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
)

// Waits between the tries of what must succeed before anything else can.
const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// identify asks who the bot is until Slack answers. An error means that the credentials are refused, or that ctx has ended.
func (s *Slack) identify(ctx context.Context) (identity, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		me, header, err := s.cfg.API.identify(ctx)
		switch {
		case err == nil:
			s.cfg.Health.Set(false, "connecting to Slack")
			s.cfg.API.granted.watch(header, s.checkScopes)
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
		if err := conduit.Sleep(ctx, max(wait, classify(err).After)); err != nil {
			return identity{}, err
		}
	}
}

// checkScopes tells of the scopes that the app lacks, until it lacks none.
func (s *Slack) checkScopes(missing []string) {
	if len(missing) == 0 {
		s.note(noteScopes, "")
		return
	}
	s.note(noteScopes, "the Slack app lacks scopes: "+strings.Join(missing, " ")+"; add them to the app and install it again")
}
