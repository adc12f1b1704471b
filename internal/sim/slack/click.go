package slack

import (
	"fmt"
	"strings"
	"time"
)

// Click has a user press the button with this action_id under a message of the bot's, or under one that only this user sees. It returns
// nil where there is no such button. What the app answers goes to the response URL, as with a slash command; an ack says nothing.
func (s *Server) Click(user, channel, ts, action string) *SlashCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := object{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false}
	body := object{"container": box}
	if _, m := s.existing(channel, ts); m != nil && holdsButton(m.Blocks, action) {
		body["message"] = s.render(m, false)
		inThread(box, m.Thread)
	} else if l := s.whispered(user, channel, ts); l != nil && holdsButton(l.Blocks, action) {
		box["is_ephemeral"] = true
		inThread(box, l.Thread)
	} else {
		return nil
	}
	return s.click(user, channel, action, body)
}

func holdsButton(blocks []byte, action string) bool {
	return strings.Contains(string(blocks), `"action_id":"`+action+`"`)
}

// inThread says in which thread a click was made; at top level there is none.
func inThread(box object, ts string) {
	if ts != "" {
		box["thread_ts"] = ts
	}
}

// whispered returns what was shown to one user alone.
func (s *Server) whispered(user, channel, ts string) *Line {
	for i := range s.seen.lines {
		if l := &s.seen.lines[i]; l.Kind == Ephemeral && l.To == user && l.Channel == channel && l.TS == ts {
			return l
		}
	}
	return nil
}

func (s *Server) click(user, channel, action string, body object) *SlashCall {
	id := fmt.Sprintf("a%d", s.world.next("click"))
	c := &SlashCall{s: s, URL: s.base + "/response_url/" + id, user: user, channel: channel, at: time.Now()}
	s.hooks[id] = c
	name := "privategroup"
	if ch := s.world.channels[channel]; ch != nil && ch.kind == IM {
		name = "directmessage"
	} else if ch != nil {
		name = ch.name
	}
	for key, value := range (object{
		"type": "block_actions", "api_app_id": s.opt.AppID, "token": "sim", "team": object{"id": s.opt.Team, "domain": s.opt.TeamName},
		"user": object{"id": user, "team_id": s.opt.Team}, "channel": object{"id": channel, "name": name}, "response_url": c.URL,
		"trigger_id": "1.2." + id, "actions": []object{{"type": "button", "action_id": action, "block_id": "b", "action_ts": s.world.stamp()}},
	}) {
		body[key] = value
	}
	s.deliver(&delivery{kind: "interactive", payload: encode(body), onAck: c.ack, onLoss: c.fail})
	return c
}
