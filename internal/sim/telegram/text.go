package telegram

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The limits of a text (source: Client.cpp, MessageContent.cpp). The first counts bytes of the parameter, the next two
// code points of what is shown, the next entities, the last about the bytes of all entities together.
const (
	maxRawText    = 32768
	maxText       = 4096
	maxCaption    = 1024
	maxEntities   = 100
	maxEntityLoad = 9500
)

// shownText is a text as people will see it.
type shownText struct {
	text     string
	entities []Entity
	dropped  int // entities beyond the hundredth
}

// Show returns what people see of an HTML text that is sent: parsed, cleaned, trimmed, its entities normalised and those
// that Telegram finds by itself added, the first hundred of them. The error is the refusal, without "Bad Request: ".
func Show(html string) (string, []Entity, error) {
	t, err := readText(params{text: map[string]string{"text": html, "parse_mode": "HTML"}}, "text", "")
	if err != nil {
		return "", nil, err
	}
	return t.text, t.entities, t.check(maxText, "message is too long")
}

// readText reads the text or caption of a call. Its length is checked later, as on the server.
func readText(p params, name, prefix string) (shownText, error) {
	raw := p.str(name)
	if len(raw) > maxRawText {
		return shownText{}, badRequest("%s is too long", name)
	}
	text, given, err := parseText(p, raw, prefix)
	if err != nil {
		return shownText{}, err
	}
	text, given = clean(text, given)
	all := normalise(addDetected(text, given))
	t := shownText{text: text, entities: all[:min(len(all), maxEntities)], dropped: max(0, len(all)-maxEntities)}
	return t, nil
}

// parseText obeys parse_mode, or else the list of entities.
func parseText(p params, raw, prefix string) (string, []Entity, error) {
	switch mode := strings.ToLower(p.str("parse_mode")); mode {
	case "html":
		text, es, err := ParseHTML(raw)
		if err != nil {
			return "", nil, badRequest("%s", err)
		}
		return text, es, nil
	case "", "none":
		es, err := givenEntities(p, raw, prefix+"entities")
		return raw, es, err
	case "markdown", "markdownv2":
		return "", nil, badRequest("the simulator reads no Markdown, only HTML and entities")
	default:
		return "", nil, badRequest("unsupported parse_mode")
	}
}

// givenEntities reads a list of entities. One bad link refuses the whole message, unlike in HTML.
func givenEntities(p params, raw, name string) ([]Entity, error) {
	var es []Entity
	if _, err := p.object(name, &es); err != nil {
		return nil, badRequest("can't parse MessageEntity: expected an Array of MessageEntity")
	}
	total := units(raw)
	for i, e := range es {
		if e.Offset < 0 || e.Length < 0 || e.End() > total {
			return nil, badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d",
				e.Offset, e.End())
		}
		if e.Type != "text_link" {
			continue
		}
		link, ok := checkLink(e.URL)
		if !ok {
			return nil, badRequest("entity URL '%s' is invalid: Wrong HTTP URL", e.URL)
		}
		es[i].URL = link
	}
	return es, nil
}

// check refuses what is too long.
func (t shownText) check(limit int, refusal string) error {
	if utf8.RuneCountInString(t.text) > limit {
		return badRequest("%s", refusal)
	}
	load := 0
	for _, e := range t.entities {
		load += 12 + len(e.URL) + len(e.Language)
	}
	if load > maxEntityLoad {
		return badRequest("ENTITIES_TOO_LONG")
	}
	return nil
}

// button is one inline button.
type button struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Data string `json:"callback_data"`
}

// readKeyboard checks an inline keyboard. Other kinds of markup are taken and not shown.
func readKeyboard(p params) (json.RawMessage, error) {
	var markup struct {
		Rows [][]button `json:"inline_keyboard"`
	}
	given, err := p.object("reply_markup", &markup)
	if err != nil || !given || len(markup.Rows) == 0 {
		return nil, err
	}
	for _, row := range markup.Rows {
		for _, b := range row {
			if err := b.check(); err != nil {
				return nil, err
			}
		}
	}
	return json.RawMessage(p.str("reply_markup")), nil
}

func (b button) check() error {
	switch {
	case strings.TrimSpace(b.Text) == "":
		return badRequest("can't parse inline keyboard button: Text must be non-empty")
	case b.URL == "" && b.Data == "":
		return badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	case len(b.Data) > 64:
		return badRequest("BUTTON_DATA_INVALID")
	}
	return nil
}
