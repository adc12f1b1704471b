package telegram

import (
	"slices"
	"strings"
)

func quotable(text, quote string) bool { return strings.Contains(text, quote) }

func (s *Server) sendMessage(p params) (any, error) {
	if p.str("text") == "" {
		return nil, badRequest("message text is empty")
	}
	t, err := readText(p, "text", "")
	if err != nil {
		return nil, err
	}
	if t.text == "" {
		return nil, badRequest("text must be non-empty")
	}
	return s.send(p, t, nil, t.check(maxText, "message is too long"))
}

// sendDocument sends an uploaded file, or one that is known by its id.
func (s *Server) sendDocument(p params) (any, error) {
	t, err := readText(p, "caption", "caption_")
	if err != nil {
		return nil, err
	}
	f, err := s.uploaded(p, "document")
	if err != nil {
		return nil, err
	}
	return s.send(p, t, f, t.check(maxCaption, "message caption is too long"))
}

// uploaded takes the file of a call.
func (s *Server) uploaded(p params, name string) (*File, error) {
	if up, ok := p.files[name]; ok {
		if len(up.data) == 0 {
			return nil, badRequest("file must be non-empty")
		}
		return s.store(File{Name: up.name, MIME: up.mime, Data: up.data}, "documents"), nil
	}
	if p.str(name) == "" {
		return nil, badRequest("there is no %s in the request", name)
	}
	if f, ok := s.files[p.str(name)]; ok {
		return &f.File, nil
	}
	return nil, badRequest("wrong file identifier/HTTP URL specified")
}

// send puts the bot's message into the chat. tooLong is checked late, as on the server: an unknown chat comes first.
func (s *Server) send(p params, t shownText, f *File, tooLong error) (any, error) {
	keyboard, err := readKeyboard(p)
	if err != nil {
		return nil, err
	}
	var preview struct {
		Off bool `json:"is_disabled"`
	}
	if _, err := p.object("link_preview_options", &preview); err != nil {
		return nil, err
	}
	c, err := s.reach(p)
	if err != nil {
		return nil, err
	}
	at, err := s.placeOf(c, p)
	if err != nil {
		return nil, err
	}
	if tooLong != nil {
		return nil, tooLong
	}
	if err := s.throttle(c); err != nil {
		return nil, err
	}
	m := &Message{From: s.bot, Topic: at.topic, Text: t.text, Entities: t.entities, File: f,
		Silent: p.flag("disable_notification"), Keyboard: keyboard, Extra: map[string]any{}}
	if at.reply != nil {
		m.ReplyTo = at.reply.ID
	}
	c.place(m)
	s.add(c, m)
	c.lastBot = s.bot.ID
	s.see(Line{Action: actionOf(m), Chat: c.id, Topic: m.Topic, Message: m.ID, ReplyTo: m.ReplyTo, Text: m.Text,
		Entities: m.Entities, File: f, Silent: m.Silent, Keyboard: keyboard, Dropped: t.dropped,
		Preview: f == nil && !preview.Off && !p.flag("disable_web_page_preview") && hasLink(t.entities), Params: p.shown()})
	return s.wire(c, m), nil
}

func actionOf(m *Message) string {
	if m.File != nil {
		return "document"
	}
	return "send"
}

func hasLink(es []Entity) bool {
	return slices.ContainsFunc(es, func(e Entity) bool { return e.Type == "url" || e.Type == "text_link" })
}
