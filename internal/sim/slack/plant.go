package slack

import "encoding/json"

// pushed is the part of an event's payload that Push looks at.
type pushed struct {
	EventID string      `json:"event_id"`
	Event   pushedEvent `json:"event"`
}

type pushedEvent struct {
	pushedMessage
	Type        string         `json:"type"`
	Channel     string         `json:"channel"`
	ChannelType Kind           `json:"channel_type"`
	Message     *pushedMessage `json:"message"` // of a message_changed
	Root        *pushedMessage `json:"root"`
}

type pushedMessage struct {
	User   string          `json:"user"`
	BotID  string          `json:"bot_id"`
	Text   string          `json:"text"`
	TS     string          `json:"ts"`
	Thread string          `json:"thread_ts"`
	Blocks json.RawMessage `json:"blocks"`
}

// plant adds the messages of a pushed event to the workspace as far as they aren't there.
func (s *Server) plant(ev pushedEvent) {
	if ev.Type != "message" && ev.Type != "app_mention" || ev.Channel == "" {
		return
	}
	s.plantChannel(ev)
	if ev.Message != nil {
		ev.pushedMessage = *ev.Message
	}
	if ev.Root != nil {
		s.plantMessage(ev.Channel, *ev.Root)
	} else if ev.Thread != "" && ev.Thread != ev.TS {
		s.plantMessage(ev.Channel, pushedMessage{User: ev.User, TS: ev.Thread})
	}
	s.plantMessage(ev.Channel, ev.pushedMessage)
}

func (s *Server) plantChannel(ev pushedEvent) {
	if s.world.channels[ev.Channel] != nil {
		return
	}
	kind := ev.ChannelType
	if kind == "" {
		kind = map[byte]Kind{'D': IM, 'G': Private}[ev.Channel[0]]
	}
	if kind == "" {
		kind = Public
	}
	s.makeChannel(ev.Channel, kind, ev.Channel, []string{s.opt.BotUser})
}

func (s *Server) plantMessage(channel string, p pushedMessage) {
	ch := s.world.channels[channel]
	if _, ok := micros(p.TS); !ok || ch.find(p.TS) != nil {
		return
	}
	if p.User != "" && s.world.users[p.User] == nil {
		s.world.users[p.User] = &User{ID: p.User, Name: p.User, Team: s.opt.Team}
	}
	if p.User != "" && !ch.has(p.User) {
		ch.members = append(ch.members, p.User)
	}
	m := &Message{Channel: channel, TS: p.TS, User: p.User, BotID: p.BotID, Text: p.Text}
	if p.Thread != p.TS {
		m.Thread = p.Thread
	}
	m.Shown = s.world.shown(p.Text)
	s.world.put(m)
	s.showMessage(Post, m)
}
