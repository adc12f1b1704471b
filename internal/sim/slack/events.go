package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// render is a message as the Web API and events show it; its metadata only where that was asked for.
func (s *Server) render(m *Message, metadata bool) object {
	out := object{"type": "message", "ts": m.TS, "text": m.Text, "team": s.opt.Team}
	for k, v := range map[string]string{
		"user": m.User, "bot_id": m.BotID, "subtype": m.Subtype, "thread_ts": m.Thread, "client_msg_id": m.clientID,
	} {
		if v != "" {
			out[k] = v
		}
	}
	for k, v := range map[string]json.RawMessage{"blocks": m.Blocks, "attachments": m.Attachments} {
		if v != nil {
			out[k] = v
		}
	}
	if metadata && m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	if m.BotID != "" {
		app, name := s.app(m)
		out["app_id"] = app
		out["bot_profile"] = object{"id": m.BotID, "app_id": app, "name": name, "team_id": s.opt.Team, "deleted": false}
	}
	if m.Edited != "" {
		out["edited"] = object{"user": m.author(), "ts": m.Edited}
	}
	if len(m.Files) > 0 {
		out["files"] = s.renderFiles(m.Files)
	}
	s.renderThread(out, m)
	return out
}

// app returns the id and the bot's name of the app that wrote a message.
func (s *Server) app(m *Message) (id, name string) {
	if s.isOwn(m) {
		return s.opt.AppID, s.opt.BotName
	}
	if u := s.world.users[m.User]; u != nil {
		name = u.Name
	}
	return "A" + m.BotID, name
}

// renderThread adds what ties a message to its thread.
func (s *Server) renderThread(out object, m *Message) {
	ch := s.world.channels[m.Channel]
	if m.Thread != "" {
		if root := ch.find(m.Thread); root != nil {
			out["parent_user_id"] = root.author()
		}
		return
	}
	if list := ch.thread(m.TS); len(list) > 1 {
		users := map[string]bool{}
		for _, r := range list[1:] {
			users[r.author()] = true
		}
		out["thread_ts"], out["reply_count"], out["reply_users_count"] = m.TS, len(list)-1, len(users)
		out["latest_reply"] = list[len(list)-1].TS
	}
}

// messageEvent tells the app of a new message; more is added to the event.
func (s *Server) messageEvent(m *Message, more object) {
	ch := s.world.channels[m.Channel]
	ev := s.render(m, false)
	if m.broadcast {
		if root := ch.find(m.Thread); root != nil {
			ev["root"] = s.render(root, false)
		}
	}
	maps.Copy(ev, more)
	ev["channel_type"] = string(ch.kind)
	s.event(ch, ev, m.TS)
}

// changeEvent tells the app that a message is no longer what before says; more is added to what it is now.
func (s *Server) changeEvent(m *Message, before, more object) {
	now := s.render(m, false)
	maps.Copy(now, more)
	s.hidden(m, object{"subtype": "message_changed", "message": now, "previous_message": before})
}

func (s *Server) deleteEvent(m *Message, before object) {
	s.hidden(m, object{"subtype": "message_deleted", "deleted_ts": m.TS, "previous_message": before})
}

func (s *Server) hidden(m *Message, ev object) {
	ch := s.world.channels[m.Channel]
	ts := s.world.stamp()
	ev["type"], ev["hidden"], ev["ts"], ev["channel_type"] = "message", true, ts, string(ch.kind)
	s.event(ch, ev, ts)
}

// mentionEvent is the twin of a message event.
func (s *Server) mentionEvent(m *Message, more object) {
	ev := s.render(m, false)
	maps.Copy(ev, more)
	ev["type"] = "app_mention"
	delete(ev, "subtype")
	s.event(s.world.channels[m.Channel], ev, m.TS)
}

// event sends an inner event to the app if it is in the conversation.
func (s *Server) event(ch *channel, ev object, ts string) {
	if !ch.has(s.opt.BotUser) {
		return
	}
	ev["channel"], ev["event_ts"] = ch.id, ts
	n := s.world.next("event")
	id := fmt.Sprintf("EvSIM%04d", n)
	s.deliver(&delivery{kind: "events_api", event: id, payload: encode(object{
		"token": "sim", "team_id": s.opt.Team, "api_app_id": s.opt.AppID, "type": "event_callback", "event_id": id,
		"event_time": time.Now().Unix(), "event_context": fmt.Sprintf("4-sim-%d", n), "is_ext_shared_channel": ch.shared,
		"authorizations": []object{{
			"enterprise_id": nil, "team_id": s.opt.Team, "user_id": s.opt.BotUser, "is_bot": true,
			"is_enterprise_install": false,
		}},
		"event": ev,
	})})
}
