package telegram

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Poll is one getUpdates call as it was answered or as it waits.
type Poll struct {
	At     time.Duration // since New
	Offset int
	Limit  int
	Wait   time.Duration // the time-out asked for, capped at 50 s
	End    time.Duration // since New, when it was answered; 0 while it waits
	Got    []int         // the ids that it was given
	Error  string        // the refusal's description
}

// maxPoll is the longest a poll may wait (source: Client.h).
const maxPoll = 50 * time.Second

// The conflicts a poll can run into (source: Client.cpp).
const (
	conflictWebhook = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
	conflictPoll    = "terminated by other getUpdates request; make sure that only one bot instance is running"
	conflictSet     = "terminated by setWebhook request"
)

// updateKinds are the kinds that allowed_updates may name; other names are ignored.
var updateKinds = []string{"message", "edited_message", "channel_post", "edited_channel_post", "business_connection",
	"business_message", "edited_business_message", "deleted_business_messages", "guest_message", "message_reaction",
	"message_reaction_count", "inline_query", "chosen_inline_result", "callback_query", "shipping_query",
	"pre_checkout_query", "purchased_paid_media", "poll", "poll_answer", "my_chat_member", "chat_member",
	"chat_join_request", "chat_boost", "removed_chat_boost", "managed_bot", "subscription"}

// optInKinds come only to a bot that names them.
var optInKinds = []string{"chat_member", "message_reaction", "message_reaction_count"}

// waiter is the poll that waits for updates. Both channels have room for the one value they ever get.
type waiter struct {
	woken chan struct{}
	ended chan error
}

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// getUpdates is the long poll. A second one ends the first, whatever the two ask for. The real server slows down a bot
// that asks for the same offset in a hot loop; this one doesn't, so that the loop shows in Polls.
func (s *Server) getUpdates(ctx context.Context, p params) (any, error) {
	limit := int(p.num("limit"))
	if limit <= 0 || limit > 100 {
		limit = 100
	}
	wait := min(max(time.Duration(p.num("timeout"))*time.Second, 0), maxPoll)
	w, n := s.beginPoll(int(p.num("offset")), limit, wait, p)
	updates, err := s.awaitUpdates(ctx, w, n, limit, wait)
	if err != nil {
		err = s.delayConflict(ctx, err)
	}
	s.endPoll(n, err)
	return updates, err
}

// beginPoll confirms, takes over from the poll before, and logs the new one as number n.
func (s *Server) beginPoll(offset, limit int, wait time.Duration, p params) (*waiter, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queue
	q.polls = append(q.polls, Poll{At: time.Since(s.start), Offset: offset, Limit: limit, Wait: wait})
	w := &waiter{woken: make(chan struct{}, 1), ended: make(chan error, 1)}
	s.touch()
	if q.webhook != "" {
		w.ended <- conflict(conflictWebhook)
		return w, len(q.polls) - 1
	}
	q.end(conflict(conflictPoll))
	q.allow(p)
	q.expire(time.Now())
	q.confirm(offset)
	q.waiting = w
	w.wake()
	return w, len(q.polls) - 1
}

// end lets the waiting poll end with err.
func (q *queue) end(err error) {
	if q.waiting != nil {
		q.waiting.ended <- err
		q.waiting = nil
	}
}

// allow keeps the previous kinds when the parameter is absent, null or unreadable; a list without one valid name means
// the default (source: get_allowed_update_types).
func (q *queue) allow(p params) {
	var names []string
	given, err := p.object("allowed_updates", &names)
	if !given || err != nil {
		return
	}
	q.allowed = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(updateKinds, n) })
	if len(q.allowed) == 0 {
		q.allowed = nil
	}
}

func (s *Server) awaitUpdates(ctx context.Context, w *waiter, n, limit int, wait time.Duration) ([]json.RawMessage, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case err := <-w.ended:
			return nil, err
		case <-w.woken:
			if got := s.takeUpdates(w, n, limit, wait == 0); got != nil {
				return got, nil
			}
		case <-timer.C:
			if got := s.takeUpdates(w, n, limit, true); got != nil {
				return got, nil
			}
			return nil, <-w.ended
		case <-ctx.Done():
			s.leave(w)
			return nil, errRestart
		case <-s.alive.Done():
			s.leave(w)
			return nil, errRestart
		}
	}
}

// takeUpdates ends the wait of w if there are updates, or in any case when it is final. It returns nil if the poll goes
// on waiting or has been ended by somebody else.
func (s *Server) takeUpdates(w *waiter, n, limit int, final bool) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queue
	if q.waiting != w || len(q.items) == 0 && !final {
		return nil
	}
	q.waiting = nil
	got := q.first(limit)
	for _, u := range q.items[:len(got)] {
		q.polls[n].Got = append(q.polls[n].Got, u.id)
	}
	return got
}

func (s *Server) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.waiting == w {
		s.queue.waiting = nil
	}
}

// delayConflict holds a conflict back for three seconds if another was told less than three seconds ago, so that two
// pollers don't chase each other (source: fail_query_conflict).
func (s *Server) delayConflict(ctx context.Context, err error) error {
	e, ok := err.(*apiError)
	if !ok || e.code != 409 || s.calm() {
		return err
	}
	timer := time.NewTimer(3 * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
	case <-s.alive.Done():
	}
	return errRestart
}

func (s *Server) calm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.queue.calmAt) {
		return false
	}
	s.queue.calmAt = now.Add(3 * time.Second)
	return true
}

func (s *Server) endPoll(n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.queue.polls[n]
	p.End = time.Since(s.start)
	if err != nil {
		p.Error = err.Error()
	}
	s.touch()
}

// Polls returns the polls in the order of their arrival.
func (s *Server) Polls() []Poll {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queue.polls)
}
