package telegram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseHTML reads text as Telegram's parse_mode HTML does and returns the plain text with its entities in Telegram's
// order, not yet normalised (overlaps are still there). Errors carry Telegram's own words and begin with
// "can't parse entities: "; offsets in them count bytes. It trims nothing and knows no length limit.
func ParseHTML(text string) (string, []Entity, error) {
	if !utf8.ValidString(text) {
		return "", nil, parseError("Text must be encoded in UTF-8")
	}
	p := &htmlParser{in: text}
	for p.i < len(p.in) {
		if err := p.step(); err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, parseError(`Can't find end tag corresponding to start tag "%s"`, p.open[n-1].name)
	}
	if p.surrogate {
		return "", nil, parseError("Text contains invalid Unicode characters after decoding HTML entities, " +
			"check for unmatched surrogate code units")
	}
	for i := range p.out {
		if p.out[i].Type == "code" {
			p.out[i].Language = "" // a language needs pre and code of the same extent
		}
	}
	sortEntities(p.out)
	return p.text.String(), p.out, nil
}

// parseError is an error in Telegram's words.
func parseError(format string, args ...any) error {
	return fmt.Errorf("can't parse entities: "+format, args...)
}

// openTag is a start tag that waits for its end.
type openTag struct {
	name   string
	attr   map[string]string
	offset int // in UTF-16 units of the plain text
	begin  int // in bytes of the plain text
}

type htmlParser struct {
	in        string
	i         int
	text      strings.Builder
	units     int
	open      []openTag
	out       []Entity
	surrogate bool
}

// at is the byte at the reading position, and 0 at the end, as the original sees it.
func (p *htmlParser) at() byte {
	if p.i < len(p.in) {
		return p.in[p.i]
	}
	return 0
}

func (p *htmlParser) step() error {
	switch p.in[p.i] {
	case '&':
		if r, n := decodeReference(p.in[p.i:]); n > 0 {
			p.surrogate = p.surrogate || (r >= 0xD800 && r <= 0xDFFF)
			p.write(r)
			p.i += n
			return nil
		}
	case '<':
		if p.i+1 < len(p.in) && p.in[p.i+1] == '/' {
			return p.endTag()
		}
		return p.startTag()
	}
	r, n := utf8.DecodeRuneInString(p.in[p.i:])
	p.write(r)
	p.i += n
	return nil
}

func (p *htmlParser) write(r rune) {
	p.text.WriteRune(r)
	p.units++
	if r > 0xFFFF {
		p.units++
	}
}

// decodeReference reads a character reference at the start of s: a number, or lt, gt, amp, quot. The closing semicolon
// may be missing. It returns the length read, 0 if there is none that Telegram decodes.
func decodeReference(s string) (rune, int) {
	end := 1
	if strings.HasPrefix(s, "&#") {
		return decodeNumber(s)
	}
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	r, ok := map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}[s[1:end]]
	if !ok {
		return 0, 0
	}
	return r, skipSemicolon(s, end)
}

func decodeNumber(s string) (rune, int) {
	base, begin := 10, 2
	if len(s) > 2 && s[2] == 'x' {
		base, begin = 16, 3
	}
	end := begin
	for end < len(s) && isDigit(s[end], base) {
		end++
	}
	n, err := strconv.ParseUint(s[begin:end], base, 31)
	if err != nil || n == 0 || n >= 0x10FFFF {
		return 0, 0
	}
	return rune(n), skipSemicolon(s, end)
}

func skipSemicolon(s string, end int) int {
	if end < len(s) && s[end] == ';' {
		end++
	}
	return end
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '9' || base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f'
}

// isSpace is the original's idea of a space: the end of the text (0) counts as one.
func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n\v\x00", c) >= 0 }

// endTag closes the innermost open tag, which must have the same name; "</>" closes any.
func (p *htmlParser) endTag() error {
	begin := p.i
	if len(p.open) == 0 {
		return parseError("Unexpected end tag at byte offset %d", begin)
	}
	p.i += 2
	for !isSpace(p.at()) && p.at() != '>' {
		p.i++
	}
	name := lowerASCII(p.in[begin+2 : p.i])
	p.skipSpaces()
	if p.at() != '>' {
		return parseError("Unclosed end tag at byte offset %d", begin)
	}
	p.i++
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return parseError(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, tag.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	return p.close(tag)
}

func (p *htmlParser) skipSpaces() {
	for p.i < len(p.in) && isSpace(p.in[p.i]) {
		p.i++
	}
}

// close turns a finished tag into its entity. An empty range leaves none.
func (p *htmlParser) close(tag openTag) error {
	e := Entity{Offset: tag.offset, Length: p.units - tag.offset}
	if e.Length == 0 {
		return nil
	}
	switch tag.name {
	case "a":
		return p.closeLink(e, tag)
	case "pre", "code":
		p.closeCode(e, tag)
		return nil
	case "tg-emoji":
		if _, err := strconv.ParseInt(tag.attr["emoji-id"], 10, 64); err != nil {
			return parseError("Invalid custom emoji identifier specified")
		}
		e.CustomEmoji = tag.attr["emoji-id"]
	case "tg-time":
		unix, err := strconv.ParseInt(tag.attr["unix"], 10, 64)
		if err != nil {
			return nil
		}
		e.UnixTime, e.TimeFormat = unix, tag.attr["format"]
	}
	e.Type = entityType(tag)
	p.out = append(p.out, e)
	return nil
}

func entityType(tag openTag) string {
	switch tag.name {
	case "b", "strong":
		return "bold"
	case "i", "em":
		return "italic"
	case "s", "strike", "del":
		return "strikethrough"
	case "u", "ins":
		return "underline"
	case "tg-emoji":
		return "custom_emoji"
	case "tg-time":
		return "date_time"
	case "blockquote":
		if _, ok := tag.attr["expandable"]; ok {
			return "expandable_blockquote"
		}
		return "blockquote"
	}
	return "spoiler"
}

// closeLink makes a link, a mention by user id, or nothing where Telegram would not follow the address.
func (p *htmlParser) closeLink(e Entity, tag openTag) error {
	address := tag.attr["href"]
	if address == "" {
		address = p.text.String()[tag.begin:]
	}
	if id, ok := linkedUser(address); ok {
		e.Type, e.User = "text_mention", &User{ID: id}
		p.out = append(p.out, e)
		return nil
	}
	if address, ok := checkLink(address); ok {
		e.Type, e.URL = "text_link", address
		p.out = append(p.out, e)
	}
	return nil
}

// closeCode joins pre and code of the same extent into one pre with a language, whichever is inside.
func (p *htmlParser) closeCode(e Entity, tag openTag) {
	e.Type, e.Language = tag.name, languageOf(tag)
	if n := len(p.out); n > 0 && p.out[n-1].Offset == e.Offset && p.out[n-1].Length == e.Length {
		last := &p.out[n-1]
		if tag.name == "pre" && last.Type == "code" && last.Language != "" {
			last.Type = "pre"
			return
		}
		if tag.name == "code" && last.Type == "pre" && last.Language == "" && e.Language != "" {
			last.Language = e.Language
			return
		}
	}
	p.out = append(p.out, e)
}

func languageOf(tag openTag) string {
	if tag.name != "code" {
		return ""
	}
	lang, ok := strings.CutPrefix(tag.attr["class"], "language-")
	if !ok {
		return ""
	}
	return lang
}

// allowedTags are the tags that Telegram knows.
var allowedTags = []string{"a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "tg-spoiler", "tg-emoji",
	"tg-time", "span", "pre", "code", "blockquote"}

func allowedTag(name string) bool { return slices.Contains(allowedTags, name) }

// lowerASCII lowers A to Z and leaves every other byte alone.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
