package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"
)

const (
	maxResponses = 5
	responseLife = 30 * time.Minute
)

// SlashCall is one slash command and what came of it.
type SlashCall struct {
	URL string // of its responses

	s             *Server
	user, channel string
	at            time.Time
	acked, failed bool
	payload       json.RawMessage
	posts         []json.RawMessage
}

// Slash has a user type the command of Options with this text in a conversation, which the bot need not be in. The text
// goes out as typed. What the app answers, in the ack or by the response URL, is shown to the user, or to all if it says
// "in_channel". A command that isn't acked in time fails before the user's eyes, and is not tried again.
func (s *Server) Slash(user, channel, text string) *SlashCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("r%d", s.world.next("slash"))
	c := &SlashCall{s: s, URL: s.base + "/response_url/" + id, user: user, channel: channel, at: time.Now()}
	s.hooks[id] = c
	s.deliver(&delivery{
		kind: "slash_commands", accepts: true, payload: encode(c.event(text, id)), onAck: c.ack, onLoss: c.fail,
	})
	return c
}

func (c *SlashCall) event(text, id string) object {
	s := c.s
	out := object{
		"token": "sim", "team_id": s.opt.Team, "team_domain": s.opt.TeamName, "channel_id": c.channel,
		"user_id": c.user, "command": s.opt.Command, "text": text, "api_app_id": s.opt.AppID,
		"is_enterprise_install": "false", "response_url": c.URL, "trigger_id": "1.2." + id,
	}
	if u := s.world.users[c.user]; u != nil {
		out["user_name"] = u.Name
	}
	switch ch := s.world.channels[c.channel]; {
	case ch == nil || ch.kind == Private:
		out["channel_name"] = "privategroup"
	case ch.kind == IM:
		out["channel_name"] = "directmessage"
	default:
		out["channel_name"] = ch.name
	}
	return out
}

func (c *SlashCall) ack(payload json.RawMessage) {
	c.acked, c.payload = true, payload
	if err := c.respond(payload); err != nil && !errors.Is(err, refuse("no_text")) {
		c.s.refused("ack", err)
	}
}

func (c *SlashCall) fail() {
	c.failed = true
	text := c.s.opt.Command + " failed because the app did not respond."
	c.s.show(Line{Kind: Ephemeral, Channel: c.channel, User: "USLACKBOT", To: c.user, Text: text})
}

// Wait returns the payload of the ack, nil if it had none, or an error if the app didn't ack in time or ctx ends.
func (c *SlashCall) Wait(ctx context.Context) (json.RawMessage, error) {
	var payload json.RawMessage
	failed := false
	err := c.s.wait(ctx, func() func() bool {
		done := c.acked || c.failed
		payload, failed = c.payload, c.failed
		return func() bool { return done }
	})
	if err == nil && failed {
		err = errors.New("slack simulator: the app did not respond")
	}
	return payload, err
}

// Posts returns what the app posted to the response URL, as it came.
func (c *SlashCall) Posts() []json.RawMessage {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return slices.Clone(c.posts)
}

// serveResponse takes a post to a response URL: five of them, for half an hour.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	err := json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	defer s.mu.Unlock()
	status := http.StatusNotFound
	c := s.hooks[path.Base(r.URL.Path)]
	switch {
	case err != nil:
		err, status = refuse("invalid_payload"), http.StatusBadRequest
	case c == nil:
		err = refuse("no_such_url")
	case time.Since(c.at) > responseLife:
		err = refuse("expired_url")
	case len(c.posts) >= maxResponses:
		err = refuse("used_url")
	default:
		err, status = c.respond(body), http.StatusOK
	}
	if err != nil {
		s.refused("response_url", err)
		writeJSON(w, status, object{"ok": false, "error": err.Error()})
		return
	}
	c.posts = append(c.posts, body)
	_, _ = w.Write([]byte("ok"))
}

// respond shows an answer to the command. An in_channel one is a message without a user, and comes back as one.
func (c *SlashCall) respond(payload json.RawMessage) error {
	var head struct {
		Type   string `json:"response_type"`
		Delete bool   `json:"delete_original"`
	}
	if len(payload) == 0 {
		return nil
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return refuse("invalid_payload")
	}
	form, err := readJSON(bytes.NewReader(payload))
	if err != nil || head.Delete {
		return err
	}
	form.Del("metadata") // not looked at here, and slack-go always sends an empty one
	body, err := readContent(form)
	if err != nil {
		return err
	}
	ch := c.s.world.channels[c.channel]
	if head.Type != "in_channel" || ch == nil {
		ts := c.s.world.stamp()
		c.s.showEphemeral(Line{Channel: c.channel, TS: ts, User: c.s.opt.BotID, To: c.user}, body)
		return nil
	}
	m := &Message{Channel: ch.id, BotID: c.s.opt.BotID, Subtype: "bot_message", TS: c.s.world.stamp()}
	c.s.fill(m, body)
	c.s.publish(m)
	return nil
}
