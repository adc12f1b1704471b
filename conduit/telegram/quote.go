package telegram

import "orebot/core/session"

// quotes returns the messages that this one refers to: the one that it passes on, and the one that it replies to. A forwarded message
// has no words of its author's own.
func (m *message) quotes(me Me) []session.Quote {
	var out []session.Quote
	if m.Forward != nil {
		text, _ := m.said()
		author, own := m.Forward.author(me)
		out = append(out, session.Quote{Kind: session.QuoteForward, Author: author, Own: own, Text: text})
	}
	if q, ok := m.replied(me); ok {
		out = append(out, q)
	}
	return out
}

// replied returns the message that this one replies to, or the part of it that it quotes.
func (m *message) replied(me Me) (session.Quote, bool) {
	q := session.Quote{Kind: session.QuoteReply}
	switch r := m.reply(); {
	case r != nil:
		q.Author, q.Own = r.author(me)
		q.Text, _ = r.said()
	case m.Elsewhere != nil:
		q.Author, q.Own = m.Elsewhere.Origin.author(me)
	default:
		return q, false
	}
	if m.Quote != nil && m.Quote.Text != "" {
		q.Kind, q.Text = session.QuotePart, m.Quote.Text
	}
	return q, q.Text != ""
}

// author names who wrote the message that was replied to; of a forwarded one, who wrote it first.
func (r *replied) author(me Me) (name string, own bool) {
	switch {
	case r.Forward != nil:
		return r.Forward.author(me)
	case r.SenderChat != nil:
		return r.SenderChat.Title, false
	case r.From != nil:
		return r.From.name(), r.From.ID == me.ID
	}
	return "", false
}

// author names where a message comes from. A channel's post may be signed.
func (o *origin) author(me Me) (name string, own bool) {
	if o == nil {
		return "", false
	}
	switch {
	case o.User != nil:
		return o.User.name(), o.User.ID == me.ID
	case o.Hidden != "":
		return o.Hidden, false
	case o.Sender != nil:
		return signed(o.Sender.Title, o.Signature), false
	case o.Chat != nil:
		return signed(o.Chat.Title, o.Signature), false
	}
	return "", false
}

func signed(title, signature string) string {
	if signature == "" {
		return title
	}
	return signature + " (" + title + ")"
}
