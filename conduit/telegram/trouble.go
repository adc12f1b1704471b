package telegram

import (
	"context"
	"net/http"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/core/observe"
)

const (
	// rivalPatience is how long another poller is put up with before it shows in the readiness: after a restart, the own poll of
	// before may still be open on the server.
	rivalPatience = time.Minute
	// rivalQuiet is how long no conflict must have been met for the streak to be over, once polls succeed. Between two conflicts
	// of one streak may lie a back-off and a poll.
	rivalQuiet = 2 * time.Minute
	// unhookAgain is how long after a webhook was removed another one is left alone: somebody means it.
	unhookAgain = time.Hour
)

// streak is a row of failures of one kind. It is logged once.
type streak struct {
	wait backoff
	n    int
}

// begin counts a failure and reports whether it is the first.
func (s *streak) begin() bool {
	s.n++
	return s.n == 1
}

// end ends the streak and reports whether there was one.
func (s *streak) end() bool {
	was := s.n > 0
	s.n = 0
	s.wait.reset()
	return was
}

// conflict is the struggle with whoever else gets this bot's updates.
type conflict struct {
	wait        backoff
	n           int       // since polls last succeeded
	first, last time.Time // of the streak
	unhooked    time.Time // when a webhook was removed
}

// succeeded ends what was in the way of polling.
func (p *poller) succeeded() {
	if failed := p.failing.end(); failed || p.rival.n > 0 {
		p.cfg.Counters.Add(observe.Reconnects, 1, Name)
		p.log.Info("polling again")
	}
	p.rival.n = 0
	p.rival.wait.reset()
}

// failed decides how long to wait after a poll that failed; an error is the end.
func (p *poller) failed(ctx context.Context, e *callError) (time.Duration, error) {
	switch {
	case e.dead:
		return 0, p.refused(e)
	case e.code == http.StatusConflict:
		return p.conflicts(ctx, e), nil
	}
	if p.failing.begin() {
		p.log.Warn("polling fails", observe.KeyError, e)
	}
	switch {
	case e.code == http.StatusTooManyRequests:
		return max(e.wait(), time.Second), nil
	case e.unauthorized():
		p.cfg.Health.Set(false, "Telegram refuses the bot token")
	case p.failing.n > 1:
		p.cfg.Health.Set(false, "Telegram can't be reached")
	}
	return p.failing.wait.next(), nil
}

// conflicts reacts to an answer that says that somebody else gets the updates.
func (p *poller) conflicts(ctx context.Context, e *callError) time.Duration {
	if e.says("webhook") {
		return p.webhook(ctx, e)
	}
	p.cfg.Counters.Add(observe.PollConflicts, 1)
	now, r := time.Now(), &p.rival
	if r.n == 0 && now.Sub(r.last) > rivalQuiet {
		r.first = now
		p.log.Warn(observe.MsgAnotherPoller, observe.KeyError, e)
	}
	r.last, r.n = now, r.n+1
	if now.Sub(r.first) >= rivalPatience {
		p.cfg.Health.Set(false, "conflict: another program polls with this bot token")
	}
	return r.wait.next()
}

// webhook removes what keeps the updates from being polled, without the updates that wait. Where that doesn't last, an operator
// must find out who sets it.
func (p *poller) webhook(ctx context.Context, e *callError) time.Duration {
	if r := &p.rival; r.unhooked.IsZero() || time.Since(r.unhooked) > unhookAgain {
		_, err := p.cfg.API.call(ctx, "deleteWebhook", tgbotapi.Params{"drop_pending_updates": "false"})
		if err == nil {
			r.unhooked = time.Now()
			p.log.Warn("webhook removed: this bot polls", observe.KeyError, e)
			return 0
		}
		e = asCall(err)
	}
	if p.failing.begin() {
		p.log.Error("a webhook takes this bot's updates", observe.KeyError, e)
	}
	p.cfg.Health.Set(false, "conflict: a webhook takes this bot's updates")
	return max(p.rival.wait.next(), e.wait())
}
