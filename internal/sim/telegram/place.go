package telegram

// place is where in a chat a message goes.
type place struct {
	topic int
	reply *Message
}

// placeOf settles topic and reply of a call.
func (s *Server) placeOf(c *chat, p params) (place, error) {
	topic, err := s.topicOf(c, int(p.num("message_thread_id")))
	if err != nil {
		return place{}, err
	}
	reply, err := c.replyOf(p)
	if err != nil {
		return place{}, err
	}
	if topic == 0 && reply != nil {
		topic = reply.Topic // no thread id is needed with a reply (source: td's issue 447)
	}
	if t, ok := c.topics[topic]; ok && t.closed {
		return place{}, badRequest("TOPIC_CLOSED")
	}
	return place{topic, reply}, nil
}

// topicOf checks a thread id. Where there are no topics it is ignored; where there are, General's 1 and the root of a
// chain of replies are not among them (source: Client.cpp, get_forum_topic_id).
func (s *Server) topicOf(c *chat, thread int) (int, error) {
	ignored := c.private() && !s.opts.Topics || c.supergroup() && !c.forum
	if thread == 0 || ignored {
		return 0, nil
	}
	if _, ok := c.topics[thread]; !ok {
		return 0, badRequest("message thread not found")
	}
	return thread, nil
}

// replyParameters is the docs' ReplyParameters as far as it is known here.
type replyParameters struct {
	Message int    `json:"message_id"`
	Chat    int64  `json:"chat_id"`
	Allow   bool   `json:"allow_sending_without_reply"`
	Quote   string `json:"quote"`
}

// replyOf finds the message that a call replies to, in the new way or in the old one.
func (c *chat) replyOf(p params) (*Message, error) {
	r := replyParameters{Message: int(p.num("reply_to_message_id")), Allow: p.flag("allow_sending_without_reply")}
	if _, err := p.object("reply_parameters", &r); err != nil {
		return nil, err
	}
	if r.Message <= 0 {
		return nil, nil
	}
	m := c.message(r.Message)
	elsewhere := r.Chat != 0 && r.Chat != c.id
	switch {
	case elsewhere, m == nil && !r.Allow:
		return nil, badRequest("message to be replied not found")
	case m == nil:
		return nil, nil
	case r.Quote != "" && !quotable(m.Text, r.Quote):
		return nil, badRequest("QUOTE_TEXT_INVALID")
	}
	return m, nil
}
