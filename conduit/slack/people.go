package slack

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"orebot/core/session"
)

// How long what Slack says of a person is believed, and of how many.
const (
	peopleAge = time.Hour
	peopleMax = 4096
)

// cache remembers persons. The zero cache is empty.
type cache struct {
	mu    sync.Mutex
	known map[string]knownAuthor
}

type knownAuthor struct {
	who   session.Author
	until time.Time
}

func (c *cache) get(id string, now time.Time) (session.Author, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[id]
	return k.who, ok && now.Before(k.until)
}

// put remembers a person. A full cache forgets those too old, or all.
func (c *cache) put(who session.Author, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]knownAuthor{}
	}
	if len(c.known) >= peopleMax {
		for id, k := range c.known {
			if !now.Before(k.until) {
				delete(c.known, id)
			}
		}
		if len(c.known) >= peopleMax {
			clear(c.known)
		}
	}
	c.known[who.ID] = knownAuthor{who, now.Add(peopleAge)}
}

// Person asks users.info who somebody is: a bot, a guest, of another workspace. What it says is kept for an hour. Somebody whom Slack
// doesn't show to the bot is of another workspace.
func (api *API) Person(ctx context.Context, _ session.Address, who session.Author) (session.Author, error) {
	if known, ok := api.people.get(who.ID, time.Now()); ok {
		known.External, known.Bot = known.External || who.External, known.Bot || who.Bot
		return known, nil
	}
	me, _, err := api.identify(ctx)
	if err != nil {
		return who, err
	}
	u, err := api.client.GetUserInfoContext(ctx, strings.TrimPrefix(who.ID, Name+":"))
	switch code := codeOf(err); {
	case code == "user_not_found" || code == "user_not_visible":
		who.External, who.Known = true, true
		return who, nil
	case err != nil:
		return who, fmt.Errorf("slack: users.info of %s: %w", who.ID, api.clean(err))
	}
	who.Known, who.Bot = true, who.Bot || u.IsBot
	who.Guest = u.IsRestricted || u.IsUltraRestricted
	who.External = who.External || u.IsStranger || u.TeamID != "" && u.TeamID != me.team
	who.Name = oneLine(firstOf(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name))
	api.people.put(who, time.Now())
	return who, nil
}

func firstOf(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}
