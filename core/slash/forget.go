package slash

import (
	"fmt"
	"strings"
	"time"

	"orebot/core/session"
)

// settingForget holds who asked for the deletion of a conversation, and when, until they confirm it.
const settingForget = "forget"

// confirmWithin is how long a deletion waits to be confirmed.
const confirmWithin = 5 * time.Minute

// forget deletes a conversation once the same person has confirmed it.
func (c *Commands) forget(cmd session.Command, v session.View) session.Effect {
	sure := strings.EqualFold(cmd.Args, "yes")
	switch now := c.cfg.Now().UTC(); {
	case sure && c.confirms(cmd, v, now):
		return session.Effect{Act: session.ActForget, Say: func(session.Outcome) session.Reply { return well("Forgotten.") }}
	case sure:
		return said(fmt.Sprintf("There is nothing to confirm. `%sforget` comes first, and then waits for five minutes.", cmd.Prefix))
	default:
		eff := said(fmt.Sprintf("This deletes the conversation for good, with the earlier ones that `%sundo` returns to. "+
			"The messages that you see here stay; delete them yourself. `%sforget yes` within 5 minutes does it.", cmd.Prefix, cmd.Prefix))
		eff.Set = []session.Setting{{Key: settingForget, Value: now.Format(time.RFC3339) + " " + cmd.In.Author.ID}}
		return eff
	}
}

// confirms reports whether a deletion was asked for by the same person, just now.
func (c *Commands) confirms(cmd session.Command, v session.View, now time.Time) bool {
	at, who, _ := strings.Cut(v.State.Settings[settingForget], " ")
	asked, err := time.Parse(time.RFC3339, at)
	age := now.Sub(asked)
	return err == nil && who == cmd.In.Author.ID && age >= -time.Second && age <= confirmWithin
}
