package telegram

import "time"

// Limit allows Count messages in any span of Per. The zero Limit allows everything.
type Limit struct {
	Count int
	Per   time.Duration
}

// Limits are what the server allows before it answers 429.
type Limits struct {
	Chat  Limit // in one chat
	Group Limit // in one group, besides
	All   Limit // in all chats together
}

// RealLimits are about those of the real server (docs: FAQ; the exact ones are undisclosed): one message a second in a
// chat with a burst of three, twenty a minute in a group, thirty a second overall.
func RealLimits() Limits {
	return Limits{Chat: Limit{3, 3 * time.Second}, Group: Limit{20, time.Minute}, All: Limit{30, time.Second}}
}

// sending is a message that counts against the limits.
type sending struct {
	chat int64
	at   time.Time
}

// throttle counts a message, or refuses it with the time to wait.
func (s *Server) throttle(c *chat) error {
	now := time.Now()
	here := func(x sending) bool { return x.chat == c.id }
	wait := s.waitFor(s.opts.Limits.Chat, now, here)
	if c.group() {
		wait = max(wait, s.waitFor(s.opts.Limits.Group, now, here))
	}
	wait = max(wait, s.waitFor(s.opts.Limits.All, now, func(sending) bool { return true }))
	if wait > 0 {
		return tooMany(wait)
	}
	if s.opts.Limits != (Limits{}) {
		s.sent = append(s.sent, sending{c.id, now})
	}
	return nil
}

// waitFor is the time until the limit has room for one more.
func (s *Server) waitFor(l Limit, now time.Time, counts func(sending) bool) time.Duration {
	if l.Count == 0 {
		return 0
	}
	left := l.Count
	for i := len(s.sent) - 1; i >= 0 && now.Sub(s.sent[i].at) < l.Per; i-- {
		if counts(s.sent[i]) {
			if left--; left == 0 {
				return l.Per - now.Sub(s.sent[i].at)
			}
		}
	}
	return 0
}
