package slack

// target finds the conversation that a call writes to. A user's id means the DM with that user.
func (s *Server) target(id string) (*channel, error) {
	if u := s.world.users[id]; u != nil && id != s.opt.BotUser {
		return s.world.channels[s.openDM(id)], nil
	}
	ch := s.world.channels[id]
	switch {
	case ch == nil, ch.kind != Public && !ch.has(s.opt.BotUser):
		return nil, refuse("channel_not_found")
	case !ch.has(s.opt.BotUser):
		return nil, refuse("not_in_channel")
	case ch.archived:
		return nil, refuse("is_archived")
	}
	return ch, nil
}

// threadOf checks a thread_ts. Slack puts a reply to a deleted root at top level instead of refusing it: then the thread
// returned is empty.
func (ch *channel) threadOf(ts string) (string, error) {
	if ts == "" || ch.gone[ts] {
		return "", nil
	}
	root := ch.find(ts)
	switch {
	case root == nil:
		return "", refuse("thread_not_found")
	case root.Thread != "":
		return "", refuse("cannot_reply_to_message")
	}
	return ts, nil
}

func (s *Server) postMessage(c *call) (object, error) {
	ch, err := s.target(c.form.Get("channel"))
	if err != nil {
		return nil, err
	}
	body, err := readContent(c.form)
	if err != nil {
		return nil, err
	}
	thread, err := ch.threadOf(c.form.Get("thread_ts"))
	if err != nil {
		return nil, err
	}
	m := s.own(ch, thread, body)
	if m.broadcast = thread != "" && c.flag("reply_broadcast"); m.broadcast {
		m.Subtype = "thread_broadcast"
	}
	s.publish(m)
	out := object{"channel": ch.id, "ts": m.TS, "message": s.render(m, true)}
	if body.truncated {
		out["warning"] = "message_truncated"
		out["response_metadata"] = object{"warnings": []string{"message_truncated"}}
	}
	return out, nil
}

// own makes a message of the bot, not yet posted.
func (s *Server) own(ch *channel, thread string, body content) *Message {
	m := &Message{Channel: ch.id, Thread: thread, User: s.opt.BotUser, BotID: s.opt.BotID, TS: s.world.stamp()}
	s.fill(m, body)
	return m
}

// fill sets what was given and keeps the rest, as chat.update does.
func (s *Server) fill(m *Message, body content) {
	m.Text = body.text
	if body.blocks != nil {
		m.Blocks = body.blocks
	}
	if body.attachments != nil {
		m.Attachments = body.attachments
	}
	if body.metadata != nil {
		m.Metadata = body.metadata
	}
	m.Shown, _ = s.world.view(m.Text, m.Blocks)
}

// publish posts a message of the bot: it is shown, ends the thread's status, and comes back as an event.
func (s *Server) publish(m *Message) {
	s.world.put(m)
	s.world.channels[m.Channel].endStatus(m)
	s.showMessage(Post, m)
	if s.opt.NoEcho {
		return
	}
	s.messageEvent(m, object{})
	if s.opt.Unfurl {
		s.changeEvent(m, s.render(m, false), object{"attachments": []object{{"id": 1, "from_url": "https://example.com"}}})
	}
}

func (s *Server) postEphemeral(c *call) (object, error) {
	ch, err := s.target(c.form.Get("channel"))
	if err != nil {
		return nil, err
	}
	to := c.form.Get("user")
	if !ch.has(to) {
		return nil, refuse("user_not_in_channel")
	}
	body, err := readContent(c.form)
	if err != nil {
		return nil, err
	}
	thread, err := ch.threadOf(c.form.Get("thread_ts"))
	if err != nil {
		return nil, err
	}
	ts := s.world.stamp()
	s.showEphemeral(Line{Channel: ch.id, Thread: thread, TS: ts, User: s.opt.BotUser, To: to}, body)
	return object{"message_ts": ts}, nil
}

func (s *Server) showEphemeral(l Line, body content) {
	l.Kind, l.Blocks, l.Metadata = Ephemeral, body.blocks, body.metadata
	l.Text, l.Pings = s.world.view(body.text, body.blocks)
	s.show(l)
}

// mine finds a message that the bot may change.
func (s *Server) mine(c *call, denied refuse) (*channel, *Message, error) {
	ch, err := s.target(c.form.Get("channel"))
	if err != nil {
		return nil, nil, err
	}
	m := ch.find(c.form.Get("ts"))
	switch {
	case m == nil || m.Deleted:
		return nil, nil, refuse("message_not_found")
	case m.BotID != s.opt.BotID:
		return nil, nil, denied
	}
	return ch, m, nil
}

func (s *Server) updateMessage(c *call) (object, error) {
	ch, m, err := s.mine(c, "cant_update_message")
	if err != nil {
		return nil, err
	}
	body, err := readContent(c.form)
	if err != nil {
		return nil, err
	}
	if len(body.text) > maxUpdate {
		return nil, refuse("msg_too_long")
	}
	s.change(m, func() { s.fill(m, body) })
	return object{"channel": ch.id, "ts": m.TS, "text": m.Text, "message": s.render(m, true)}, nil
}

func (s *Server) deleteMessage(c *call) (object, error) {
	ch, m, err := s.mine(c, "cant_delete_message")
	if err != nil {
		return nil, err
	}
	s.remove(ch, m)
	return object{"channel": ch.id, "ts": m.TS}, nil
}

// change edits a message, whoever's it is, and says so to people and to the app.
func (s *Server) change(m *Message, edit func()) {
	before := s.render(m, false)
	edit()
	m.Edited = s.world.stamp()
	s.showMessage(Edit, m)
	if !s.isOwn(m) || !s.opt.NoEcho {
		s.changeEvent(m, before, nil)
	}
}

// remove deletes a message, whoever's it is, and says so to people and to the app.
func (s *Server) remove(ch *channel, m *Message) {
	before, own := s.render(m, false), s.isOwn(m)
	s.show(Line{Kind: Delete, Channel: ch.id, Thread: m.Thread, TS: m.TS, User: m.author(), Text: m.Shown})
	if tombstone := ch.remove(m); own && s.opt.NoEcho {
		return
	} else if tombstone {
		s.changeEvent(m, before, object{"subtype": "tombstone", "hidden": true})
		return
	}
	s.deleteEvent(m, before)
}

func (s *Server) isOwn(m *Message) bool { return m.BotID == s.opt.BotID }
