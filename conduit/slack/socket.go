package slack

import (
	"context"
	"errors"
	"net/http"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/core/observe"
)

// connect keeps a connection until ctx ends, then it returns nil and leaves the last one open for acks; or until Slack refuses the
// credentials or has taken the app away.
func (n *intake) connect(ctx context.Context) error {
	for {
		n.connecting()
		w, err := n.s.cfg.API.open(ctx)
		switch {
		case ctx.Err() != nil:
			if w != nil {
				w.close()
			}
			return nil
		case dead(codeOf(err)):
			return err
		case err != nil:
			n.trouble(err) // the gate paces the next try
			continue
		}
		if n.last != nil {
			n.last.close()
		}
		n.last = w
		n.use(w)
		n.follow(ctx, w)
		if n.revoked != nil {
			return n.revoked
		}
		if ctx.Err() != nil {
			return nil
		}
		n.use(nil)
		w.close()
	}
}

// follow handles what comes over a connection, until it ends or Slack says that it will.
func (n *intake) follow(ctx context.Context, w *wire) {
	n.cause = ""
	err := w.read(ctx, n.beat, func(data []byte) (over bool) {
		n.beat()
		switch f := readFrame(data); {
		case f.envelope != "":
			n.take(f)
			return n.revoked != nil
		case f.kind == "hello":
			n.greeted(f.connections)
		case f.kind == "disconnect":
			n.s.log.Debug("Slack ends the connection", observe.KeyReason, f.reason)
			n.cause = f.reason
			return true
		}
		return false
	})
	if err != nil && ctx.Err() == nil {
		n.s.log.Debug("connection lost", observe.KeyError, bare(err))
	}
}

// beat notes a sign of life, while the conduit is connected.
func (n *intake) beat() {
	if now := time.Now(); n.up && now.Sub(n.beaten) >= time.Second {
		n.beaten = now
		n.s.cfg.Health.Beat()
	}
}

// causes are the disconnects that an operator has to do something about. Slack says them on every connection, for as long as they last.
func causes(reason string) string {
	switch reason {
	case "link_disabled":
		return "Socket Mode is turned off in the app's settings; turn it on there"
	case "too_many_websockets":
		return "the app has too many connections; stop the other processes that use this app token"
	}
	return ""
}

// connecting notes that there is no connection now.
func (n *intake) connecting() {
	if n.up {
		n.up, n.lost = false, time.Now()
		n.s.missed.lost(n.lost)
	}
	if n.troubled {
		return // what the trouble is has been told
	}
	reason, stormy := "connecting to Slack", n.s.cfg.API.gate.stormy()
	if why := causes(n.cause); why != "" {
		reason = why
		n.warn(n.cause, reason)
	} else if stormy {
		reason = "Slack ends every connection at once; is Socket Mode on, and does nothing else use the app token?"
		n.warn("storm", reason)
	}
	if !stormy && n.cause != n.warned {
		n.warned = ""
	}
	n.s.cfg.Health.Set(false, reason)
}

// warn tells of what ends the connections, once a streak.
func (n *intake) warn(what, reason string) {
	if n.warned == "" || n.warned == "storm" && what != "storm" {
		n.s.log.Warn("Slack ends connections", observe.KeyReason, reason)
		n.warned = what
	}
}

// trouble tells of a connection that can't be opened, once a streak.
func (n *intake) trouble(err error) {
	var limited *slackgo.RateLimitedError
	if errors.As(err, &limited) {
		n.s.cfg.API.gate.hold(max(limited.RetryAfter, time.Second))
	}
	if !n.troubled {
		n.s.log.Warn("no connection to Slack", observe.KeyError, err)
	}
	n.troubled = true
	reason := "no connection to Slack"
	var status slackgo.StatusCodeError
	if errors.As(err, &status) && status.Code == http.StatusNotFound {
		reason = "no connection to Slack: is api_url right?"
	}
	n.s.cfg.Health.Set(false, reason)
}

// greeted notes that Slack has said hello: from here on events come.
func (n *intake) greeted(connections int64) {
	n.s.cfg.Health.Set(true, "")
	n.s.cfg.Health.Beat()
	n.up, n.beaten = true, time.Now()
	if n.hellos++; n.hellos > 1 {
		n.s.cfg.Counters.Add(observe.Reconnects, 1, Name)
	}
	if n.troubled {
		n.s.log.Info("connected to Slack again")
	}
	n.troubled = false
	n.s.missed.back()
	switch {
	case connections > int64(n.own()):
		n.s.note(noteShared, "another process uses this app token and gets some of the events")
	case connections == 1:
		n.s.note(noteShared, "")
	}
}

// own is how many connections may be this process's own: Slack goes on counting for a while those that have just ended.
func (n *intake) own() int {
	if n.lost.IsZero() || time.Since(n.lost) >= stable {
		return 1
	}
	return 1 + n.s.cfg.API.gate.recent()
}
