package slack

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	token   = regexp.MustCompile(`<([@#!][^<>\s|]+|(?:https?|mailto|tel):[^<>|]+)(?:\|([^<>]*))?>`)
	rawLink = regexp.MustCompile(`https?://[^\s<>]*[^\s<>.,;:!?)\]'"]`)
	atName  = regexp.MustCompile(`(^|[\s(])@([\pL\pN._-]*[\pL\pN])`)
	code    = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]+`")
	ping    = regexp.MustCompile(`<(@[UW][A-Z0-9]+|!(?:channel|here|everyone)|!subteam\^[A-Z0-9]+)(?:\|[^<>]*)?>`)

	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// typed turns what a person types into the text of an event, as Slack's clients and servers do together: "@name" of
// somebody known becomes a mention, a URL becomes a link, and &, <, > are escaped. Tokens already written as "<@U1>",
// "<#C1>", "<!here>" or "<https://…>" stay.
func (w *world) typed(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range token.FindAllStringIndex(text, -1) {
		b.WriteString(w.plain(text[last:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		last = at[1]
	}
	b.WriteString(w.plain(text[last:]))
	return b.String()
}

func (w *world) plain(text string) string {
	text = rawLink.ReplaceAllStringFunc(escaper.Replace(text), func(u string) string { return "<" + u + ">" })
	return atName.ReplaceAllStringFunc(text, func(s string) string {
		m := atName.FindStringSubmatch(s)
		if id := w.named(m[2]); id != "" {
			return m[1] + "<@" + id + ">"
		}
		return s
	})
}

func (w *world) named(name string) string {
	found := ""
	for id, u := range w.users {
		if u.Name == name && (found == "" || id < found) {
			found = id
		}
	}
	return found
}

// shown is how a person reads text: mentions by name, links by label, entities decoded. Markers of style stay.
func (w *world) shown(text string) string {
	return unescaper.Replace(token.ReplaceAllStringFunc(text, func(t string) string {
		m := token.FindStringSubmatch(t)
		switch kind, label := m[1], m[2]; {
		case kind[0] == '@' && w.users[kind[1:]] != nil:
			return "@" + w.users[kind[1:]].Name
		case kind[0] == '#' && w.channels[kind[1:]] != nil:
			return "#" + w.channels[kind[1:]].name
		case label != "":
			return label
		case kind[0] == '!':
			return "@" + strings.TrimPrefix(kind[1:], "subteam^")
		default:
			return strings.TrimPrefix(kind, "mailto:")
		}
	}))
}

// piece is a text found in blocks. Markdown is decoded as CommonMark, where code is out of the reach of mentions.
type piece struct {
	text     string
	markdown bool
}

// pieces returns the texts of blocks in the order in which they are shown.
func pieces(blocks json.RawMessage) []piece {
	var v any
	if json.Unmarshal(blocks, &v) != nil {
		return nil
	}
	return walk(v, "")
}

func walk(v any, kind string) []piece {
	var out []piece
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, walk(e, kind)...)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		for _, key := range []string{"title", "text", "fields", "elements", "rows"} {
			out = append(out, walk(v[key], kind)...)
		}
		if id, ok := v["user_id"].(string); ok {
			out = append(out, piece{text: "<@" + id + ">"})
		}
	case string:
		out = append(out, piece{v, kind == "markdown"})
	}
	return out
}

// view returns what a person reads of a message, and whom it pings ("@U1", "!channel").
func (w *world) view(text string, blocks json.RawMessage) (string, []string) {
	parts := pieces(blocks)
	if len(parts) == 0 {
		parts = []piece{{text: text}}
	}
	var lines, pings []string
	for _, p := range parts {
		lines = append(lines, w.shown(p.text))
		if p.markdown {
			p.text = code.ReplaceAllString(p.text, "")
		}
		for _, m := range ping.FindAllStringSubmatch(p.text, -1) {
			pings = append(pings, m[1])
		}
	}
	return strings.Join(lines, "\n"), pings
}

// richText is the block that a client sends along with what a person typed.
func richText(text string) []object {
	var els []object
	add := func(s string) {
		if s != "" {
			els = append(els, object{"type": "text", "text": unescaper.Replace(s)})
		}
	}
	last := 0
	for _, m := range token.FindAllStringSubmatchIndex(text, -1) {
		add(text[last:m[0]])
		last = m[1]
		els = append(els, element(text[m[2]:m[3]]))
	}
	add(text[last:])
	section := object{"type": "rich_text_section", "elements": els}
	return []object{{"type": "rich_text", "block_id": "b", "elements": []object{section}}}
}

func element(t string) object {
	switch t[0] {
	case '@':
		return object{"type": "user", "user_id": t[1:]}
	case '#':
		return object{"type": "channel", "channel_id": t[1:]}
	case '!':
		return object{"type": "broadcast", "range": t[1:]}
	}
	return object{"type": "link", "url": unescaper.Replace(t)}
}

// attached returns the texts of attachments, in which pings are as live as in a message's own.
func attached(raw json.RawMessage) (texts []string) {
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, a := range list {
		texts = append(texts, a.Text)
	}
	return texts
}
