package telegram

import (
	"net/http"
	"sync"
	"time"
)

// How often a token must be refused before it counts as refused for good, and how far apart. A server may refuse a good token for a
// moment, and accept a revoked one now and then.
const (
	refusals   = 3
	refusalGap = time.Second
)

// credentials notes whether the server takes the token.
type credentials struct {
	mu   sync.Mutex
	good bool // it did once
	n    int
	last time.Time
	dead bool
}

// accepted notes an answer that only a good token gets.
func (c *credentials) accepted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n, c.good = 0, true
}

// judge marks e where it shows that the credentials are refused for good. A token that was taken once has the shape of one: what isn't found
// then counts like any other refusal.
func (c *credentials) judge(e *callError) *callError {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.odd, e.code == 0, e.code >= 500:
	case e.malformedToken() && !c.good:
		c.n = refusals
		c.mark(e)
	case e.malformedToken(), e.unauthorized():
		if now := time.Now(); now.Sub(c.last) >= refusalGap {
			c.n, c.last = c.n+1, now
		}
		c.mark(e)
	default:
		c.n, c.good = 0, true
	}
	return e
}

func (c *credentials) mark(e *callError) {
	if e.dead = c.n >= refusals; e.dead {
		e.first, c.dead = !c.dead, true
	}
}

// unauthorized: the token is revoked, or another one's (server: Client.cpp; 421 is said by a server that serves other bots).
func (e *callError) unauthorized() bool {
	return !e.odd && (e.code == http.StatusUnauthorized || e.code == http.StatusMisdirectedRequest)
}

// malformedToken: what isn't shaped like a token has no URL. A method that doesn't exist has a longer description.
func (e *callError) malformedToken() bool {
	return !e.odd && e.code == http.StatusNotFound && e.text == "Not Found"
}
