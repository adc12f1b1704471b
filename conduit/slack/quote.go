package slack

import (
	"encoding/json"
	"strings"

	"orebot/core/session"
)

// maxQuotes is how many forwarded messages of one message are read.
const maxQuotes = 20

// quotesOf are the messages that a message passes on. Slack keeps them among the attachments, where links that were unfurled stand
// too: those aren't what somebody said.
func quotesOf(m object, me identity) []session.Quote {
	var out []session.Quote
	for _, a := range m.list("attachments") {
		if !forwards(a) || len(out) == maxQuotes {
			continue
		}
		q := session.Quote{Kind: session.QuoteForward, Author: oneLine(a.text("author_name")), Text: quotedText(a, me)}
		q.Own = a.text("author_id") == me.user || me.bot != "" && a.text("bot_id") == me.bot
		if q.Text != "" {
			out = append(out, q)
		}
	}
	return out
}

// forwards reports whether an attachment is a message that was shared.
func forwards(a object) bool { return a.flag("is_share") || a.flag("is_msg_unfurl") }

// quotedText is what a forwarded message says: its text, or what its blocks hold, or the text for those who can't see it.
func quotedText(a object, me identity) string {
	for _, text := range []string{readText(a.text("text"), me), blocksText(a["message_blocks"]), readText(a.text("fallback"), me)} {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// blocksText gathers the texts of rich blocks, wherever in the JSON they stand. They aren't escaped.
func blocksText(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var b strings.Builder
	gather(&b, v)
	return b.String()
}

func gather(b *strings.Builder, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			gather(b, e)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		if text, ok := v["text"].(string); ok && kind != "image" {
			b.WriteString(text)
			return
		}
		if id, ok := v["user_id"].(string); ok {
			b.WriteString("@" + id)
		}
		for _, key := range []string{"message", "blocks", "text", "elements"} {
			gather(b, v[key])
		}
		if strings.HasPrefix(kind, "rich_text_") || kind == "section" || kind == "header" {
			b.WriteByte('\n')
		}
	}
}

// filesOf refers to a message's files, those of forwarded messages among them. What isn't kept by Slack has no URL, since whatever
// fetches it would send the token there; what the event tells too little of is asked about when it is fetched.
func filesOf(m object) []session.Attachment {
	list := m.list("files")
	for _, a := range m.list("attachments") {
		if forwards(a) {
			list = append(list, a.list("files")...)
		}
	}
	var out []session.Attachment
	for _, f := range list {
		if a, ok := fileOf(f); ok {
			out = append(out, a)
		}
	}
	return out
}

// fileOf reads a file object; ok is false where it names no file.
func fileOf(f object) (a session.Attachment, ok bool) {
	id := f.text("id")
	if !validID(id) {
		return a, false
	}
	a = session.Attachment{ID: id, Name: oneLine(firstOf(f.text("name"), f.text("title"))), MIME: f.text("mimetype"), Size: f.size("size")}
	if !elsewhere(f) && f.text("mode") != "tombstone" && f.text("mode") != "hidden_by_limit" {
		a.URL = firstOf(f.text("url_private_download"), f.text("url_private"))
	}
	return a, true
}

// elsewhere reports whether a file isn't kept by Slack.
func elsewhere(f object) bool { return f.flag("is_external") || f.text("mode") == "external" }
