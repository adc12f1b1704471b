package slack

import (
	"fmt"
	"strings"
	"time"
)

// Click has a user press the button with this action_id under a message of the bot's. It returns nil where there is no such button.
// What the app answers goes to the response URL, as with a slash command; an ack says nothing.
func (s *Server) Click(user, channel, ts, action string) *SlashCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m := s.existing(channel, ts)
	if m == nil || !strings.Contains(string(m.Blocks), `"action_id":"`+action+`"`) {
		return nil
	}
	id := fmt.Sprintf("a%d", s.world.next("click"))
	c := &SlashCall{s: s, URL: s.base + "/response_url/" + id, user: user, channel: channel, at: time.Now()}
	s.hooks[id] = c
	box := object{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false}
	if m.Thread != "" {
		box["thread_ts"] = m.Thread
	}
	name := ch.name
	if ch.kind == IM {
		name = "directmessage"
	}
	s.deliver(&delivery{kind: "interactive", payload: encode(object{
		"type": "block_actions", "api_app_id": s.opt.AppID, "token": "sim", "team": object{"id": s.opt.Team, "domain": s.opt.TeamName},
		"user":    object{"id": user, "team_id": s.opt.Team},
		"channel": object{"id": channel, "name": name}, "container": box, "message": s.render(m, false), "response_url": c.URL,
		"trigger_id": "1.2." + id, "actions": []object{{"type": "button", "action_id": action, "block_id": "b", "action_ts": s.world.stamp()}},
	}), onAck: c.ack, onLoss: c.fail})
	return c
}
