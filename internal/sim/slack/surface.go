package slack

import (
	"slices"
	"strings"
	"time"
)

// statusLife is how long a status stands that nobody renews.
const statusLife = 2 * time.Minute

type status struct {
	text string
	at   time.Time
}

// endStatus takes down the status that a post of the bot answers: its thread's, in a DM without threads every one.
func (ch *channel) endStatus(m *Message) {
	delete(ch.status, m.Thread)
	if ch.kind == IM && m.Thread == "" {
		clear(ch.status)
	}
}

func (s *Server) setStatus(c *call) (object, error) {
	ch, err := s.target(c.form.Get("channel_id"))
	if err != nil {
		return nil, err
	}
	ts := c.form.Get("thread_ts")
	m := ch.find(ts)
	if m == nil || m.Deleted {
		return nil, refuse("invalid_thread_ts")
	}
	text := c.form.Get("status")
	if ch.status[ts] = (status{text, time.Now()}); text == "" {
		delete(ch.status, ts)
	}
	s.show(Line{Kind: Status, Channel: ch.id, Thread: ts, User: s.opt.BotUser, Text: text})
	return nil, nil
}

// Status returns the status that people see in the thread of this message now. It ends with a post of the bot in the
// thread, or two minutes after it was set.
func (s *Server) Status(channel, ts string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.world.channels[channel]
	if ch == nil || time.Since(ch.status[ts].at) > statusLife {
		return ""
	}
	return ch.status[ts].text
}

func (s *Server) addReaction(c *call) (object, error) {
	m, mark, err := s.reaction(c)
	if err != nil {
		return nil, err
	}
	if slices.Contains(m.Reactions, mark) {
		return nil, refuse("already_reacted")
	}
	m.Reactions = append(m.Reactions, mark)
	s.showReaction(m, "+"+c.form.Get("name"))
	return nil, nil
}

func (s *Server) removeReaction(c *call) (object, error) {
	m, mark, err := s.reaction(c)
	if err != nil {
		return nil, err
	}
	i := slices.Index(m.Reactions, mark)
	if i < 0 {
		return nil, refuse("no_reaction")
	}
	m.Reactions = slices.Delete(m.Reactions, i, i+1)
	s.showReaction(m, "-"+c.form.Get("name"))
	return nil, nil
}

func (s *Server) reaction(c *call) (*Message, string, error) {
	ch, err := s.target(c.form.Get("channel"))
	if err != nil {
		return nil, "", err
	}
	name := c.form.Get("name")
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_+-'") != "" {
		return nil, "", refuse("invalid_name")
	}
	m := ch.find(c.form.Get("timestamp"))
	if m == nil || m.Deleted {
		return nil, "", refuse("message_not_found")
	}
	return m, name + " " + s.opt.BotUser, nil
}

func (s *Server) showReaction(m *Message, text string) {
	s.show(Line{Kind: Reaction, Channel: m.Channel, Thread: m.Thread, TS: m.TS, User: s.opt.BotUser, Text: text})
}
