package slack

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// The limits of a message, in characters unless said otherwise.
const (
	maxText     = 40_000 // beyond it the text is cut, with a warning
	maxUpdate   = 4_000  // bytes
	maxBlocks   = 50
	maxSection  = 3_000
	maxField    = 2_000
	maxFields   = 10
	maxHeader   = 150
	maxElements = 10
	maxLabel    = 75 // of a button
	maxAction   = 255
	maxValue    = 2_000
	maxMarkdown = 12_000 // over all markdown blocks of a message
	maxRendered = 13_200 // over all blocks, with &, <, > counted as their entities
)

// content is what a message can hold, checked.
type content struct {
	text        string
	blocks      json.RawMessage // nil: not given
	attachments json.RawMessage
	metadata    json.RawMessage
	truncated   bool
}

// readContent takes a message's content from the parameters of a call and refuses what Slack would.
func readContent(form url.Values) (content, error) {
	c := content{text: form.Get("text")}
	if md := form.Get("markdown_text"); md != "" {
		if c.text != "" || form.Has("blocks") {
			return c, refuse("markdown_text_conflict")
		}
		form = url.Values{"blocks": {string(encode([]object{{"type": "markdown", "text": md}}))}, "metadata": form["metadata"]}
	}
	var err error
	if c.blocks, err = readBlocks(form.Get("blocks")); err != nil {
		return c, err
	}
	if c.metadata, err = readMetadata(form.Get("metadata")); err != nil {
		return c, err
	}
	if c.attachments, err = readAttachments(form.Get("attachments")); err != nil {
		return c, err
	}
	if strings.TrimSpace(c.text) == "" && empty(c.blocks) && empty(c.attachments) {
		return c, refuse("no_text")
	}
	if r := []rune(c.text); len(r) > maxText {
		c.text, c.truncated = string(r[:maxText]), true
	}
	return c, nil
}

func empty(list json.RawMessage) bool { return len(list) == 0 || string(list) == "[]" }

func readMetadata(s string) (json.RawMessage, error) {
	if s == "" || s == "null" {
		return nil, nil
	}
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if json.Unmarshal([]byte(s), &m) != nil || m.Type == "" || m.Payload == nil {
		return nil, refuse("invalid_metadata_format")
	}
	return json.RawMessage(s), nil
}

func readAttachments(s string) (json.RawMessage, error) {
	if s == "" || s == "null" {
		return nil, nil
	}
	var list []object
	if json.Unmarshal([]byte(s), &list) != nil {
		return nil, refuse("invalid_attachments")
	}
	if len(list) > 100 {
		return nil, refuse("too_many_attachments")
	}
	return json.RawMessage(s), nil
}

type textObject struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type block struct {
	Type     string            `json:"type"`
	ID       string            `json:"block_id"`
	Text     json.RawMessage   `json:"text"`
	Fields   []textObject      `json:"fields"`
	Elements []json.RawMessage `json:"elements"`
}

func readBlocks(s string) (json.RawMessage, error) {
	if s == "" || s == "null" {
		return nil, nil
	}
	var blocks []block
	if json.Unmarshal([]byte(s), &blocks) != nil {
		return nil, refuse("invalid_blocks_format")
	}
	if len(blocks) > maxBlocks {
		return nil, invalid("no more than 50 items allowed", "/blocks")
	}
	ids := map[string]bool{}
	for i, b := range blocks {
		if why := b.fault(); why != "" {
			return nil, invalid(why, fmt.Sprintf("/blocks/%d", i))
		}
		if b.ID != "" && ids[b.ID] {
			return nil, invalid("block_id already exists", fmt.Sprintf("/blocks/%d/block_id", i))
		}
		ids[b.ID] = true
	}
	return json.RawMessage(s), checkTotals(json.RawMessage(s))
}

func invalid(why, where string) error {
	text := fmt.Sprintf("[ERROR] %s [json-pointer:%s]", why, where)
	return refusal{"invalid_blocks", object{"response_metadata": object{"messages": []string{text}}}}
}

// fault says what is wrong with a block, in Slack's kind of words; an unknown type is wrong.
func (b block) fault() string {
	switch b.Type {
	case "section":
		return b.section()
	case "header":
		return b.text(maxHeader, "plain_text")
	case "markdown":
		var md string
		if json.Unmarshal(b.Text, &md) != nil || md == "" {
			return "missing required field: text"
		}
	case "context", "actions":
		if n := len(b.Elements); n == 0 || b.Type == "context" && n > maxElements || n > 25 {
			return "wrong number of elements"
		}
		return b.buttons()
	case "divider", "rich_text", "image", "table", "file", "video", "input", "task_card", "plan", "context_actions":
	default:
		return "unsupported type: " + b.Type
	}
	return ""
}

// buttons says what is wrong with the buttons of a block.
func (b block) buttons() string {
	seen := map[string]bool{}
	for _, raw := range b.Elements {
		var e struct {
			Type   string     `json:"type"`
			Text   textObject `json:"text"`
			Action string     `json:"action_id"`
			Value  string     `json:"value"`
		}
		if json.Unmarshal(raw, &e) != nil || e.Type != "button" {
			continue
		}
		if why := e.Text.fault(maxLabel, "plain_text"); why != "" {
			return why
		}
		switch {
		case len(e.Action) > maxAction || len(e.Value) > maxValue:
			return "action_id or value is too long"
		case e.Action != "" && seen[e.Action]:
			return "action_id already exists"
		}
		seen[e.Action] = true
	}
	return ""
}

func (b block) section() string {
	if len(b.Fields) > maxFields {
		return "no more than 10 items allowed"
	}
	for _, f := range b.Fields {
		if why := f.fault(maxField, "mrkdwn", "plain_text"); why != "" {
			return why
		}
	}
	if len(b.Fields) > 0 && len(b.Text) == 0 {
		return ""
	}
	return b.text(maxSection, "mrkdwn", "plain_text")
}

func (b block) text(limit int, types ...string) string {
	var t textObject
	if json.Unmarshal(b.Text, &t) != nil {
		return "missing required field: text"
	}
	return t.fault(limit, types...)
}

func (t textObject) fault(limit int, types ...string) string {
	for _, kind := range types {
		if t.Type != kind {
			continue
		}
		switch n := utf8.RuneCountInString(t.Text); {
		case n == 0:
			return "must be more than 0 characters"
		case n > limit:
			return fmt.Sprintf("must be less than %d characters", limit+1)
		}
		return ""
	}
	return "unsupported type: " + t.Type
}

func checkTotals(blocks json.RawMessage) error {
	markdown, rendered := 0, 0
	for _, p := range pieces(blocks) {
		if p.markdown {
			markdown += utf8.RuneCountInString(p.text)
		}
		rendered += utf8.RuneCountInString(escaper.Replace(unescaper.Replace(p.text)))
	}
	if markdown > maxMarkdown || rendered > maxRendered {
		return refuse("msg_blocks_too_long")
	}
	return nil
}
