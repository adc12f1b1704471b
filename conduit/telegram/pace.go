package telegram

import (
	"golang.org/x/time/rate"

	"orebot/conduit"
	"orebot/core/session"
)

// What Telegram documents (docs: FAQ): about one message a second in a chat with short bursts, twenty a minute in a group, about
// thirty a second in all, of which presence and answers to buttons need some.
var (
	allPosts     = conduit.Rate{Limit: 25, Burst: 5}
	privatePosts = conduit.Rate{Limit: 1, Burst: 3}
	groupPosts   = conduit.Rate{Limit: rate.Limit(20.0 / 60), Burst: 5}
)

// chatOf names what Telegram limits together: a chat with all its topics.
func chatOf(a session.Address) string {
	key, _ := paceOf(a)
	return key
}

func paceOf(a session.Address) (string, conduit.Rate) {
	p, err := parseAddress(a)
	switch {
	case err != nil:
		return string(a), privatePosts
	case p.private():
		return decimal(p.chat), privatePosts
	}
	return decimal(p.chat), groupPosts
}
