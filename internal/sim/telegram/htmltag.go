package telegram

import (
	"net/url"
	"strconv"
	"strings"
)

// startTag reads a start tag with its attributes and puts it on the stack.
func (p *htmlParser) startTag() error {
	begin := p.i
	p.i++
	for !isSpace(p.at()) && p.at() != '>' {
		p.i++
	}
	if p.i >= len(p.in) {
		return parseError("Unclosed start tag at byte offset %d", begin)
	}
	tag := openTag{name: lowerASCII(p.in[begin+1 : p.i]), attr: map[string]string{}}
	if !allowedTag(tag.name) {
		return parseError(`Unsupported start tag "%s" at byte offset %d`, tag.name, begin)
	}
	for p.at() != '>' {
		if err := p.attribute(tag, begin); err != nil {
			return err
		}
	}
	p.i++
	if tag.name == "span" && tag.attr["class"] != "tg-spoiler" {
		return parseError(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
	}
	tag.offset, tag.begin = p.units, p.text.Len()
	p.open = append(p.open, tag)
	return nil
}

// attribute reads one attribute into tag; at the end of the tag it reads nothing.
func (p *htmlParser) attribute(tag openTag, begin int) error {
	p.skipSpaces()
	if p.at() == '>' {
		return nil
	}
	from := p.i
	for !isSpace(p.at()) && strings.IndexByte(`=>/"'`, p.at()) < 0 {
		p.i++
	}
	name := p.in[from:p.i]
	if name == "" {
		return parseError(`Empty attribute name in the tag "%s" at byte offset %d`, tag.name, begin)
	}
	p.skipSpaces()
	if p.at() != '=' {
		if p.i >= len(p.in) {
			return parseError(`Unclosed start tag "%s" at byte offset %d`, tag.name, begin)
		}
		tag.set(name, "")
		return nil
	}
	p.i++
	p.skipSpaces()
	value, err := p.value(begin)
	if err != nil {
		return err
	}
	tag.set(name, value)
	return nil
}

// set keeps an attribute. Of a repeated one the last counts, but a class of the wrong kind doesn't undo a right one.
func (t openTag) set(name, value string) {
	if name == "class" && (t.name == "code" && !strings.HasPrefix(value, "language-") ||
		t.name == "span" && !strings.HasPrefix(value, "tg-")) {
		return
	}
	t.attr[name] = value
}

// value reads a quoted string or a bare token of letters, digits, dots and hyphens (which is lowered).
func (p *htmlParser) value(begin int) (string, error) {
	unclosed := parseError("Unclosed start tag at byte offset %d", begin)
	if p.i >= len(p.in) {
		return "", unclosed
	}
	if q := p.at(); q == '"' || q == '\'' {
		return p.quoted(q, unclosed)
	}
	from := p.i
	for c := p.at(); isLetter(c) || isDigit(c, 10) || c == '.' || c == '-'; c = p.at() {
		p.i++
	}
	if !isSpace(p.at()) && p.at() != '>' {
		return "", parseError("Unexpected end of name token at byte offset %d", from)
	}
	if p.i >= len(p.in) {
		return "", unclosed
	}
	return lowerASCII(p.in[from:p.i]), nil
}

func (p *htmlParser) quoted(q byte, unclosed error) (string, error) {
	var b strings.Builder
	for p.i++; p.i < len(p.in) && p.in[p.i] != q; {
		if p.in[p.i] == '&' {
			if r, n := decodeReference(p.in[p.i:]); n > 0 {
				b.WriteRune(r)
				p.i += n
				continue
			}
		}
		b.WriteByte(p.in[p.i])
		p.i++
	}
	p.i++
	if p.i >= len(p.in) {
		return "", unclosed
	}
	return b.String(), nil
}

// linkedUser reads tg://user?id=N; the slashes may be missing.
func linkedUser(address string) (int64, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "tg" || lowerASCII(u.Host+u.Opaque) != "user" {
		return 0, false
	}
	digits := u.Query().Get("id")
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == digits
}

// checkLink tells whether Telegram makes a link of address, and which: http is supplied, scheme and host are lowered, an
// empty path becomes "/". Hosts without a dot and schemes other than http, https, tg, ton and tonsite make none.
func checkLink(address string) (string, bool) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "http", address
	}
	scheme = lowerASCII(scheme)
	switch scheme {
	case "tg", "ton", "tonsite":
		return scheme + "://" + rest, rest != ""
	case "http", "https":
	default:
		return "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end, rest = len(rest), rest+"/"
	} else if rest[end] != '/' {
		rest = rest[:end] + "/" + rest[end:]
	}
	authority, path := rest[:end], strings.ReplaceAll(rest[end:], " ", "%20")
	if !plausibleHost(authority) {
		return "", false
	}
	return scheme + "://" + lowerHost(authority) + path, true
}

func lowerHost(authority string) string {
	at := strings.LastIndexByte(authority, '@') + 1
	return authority[:at] + lowerASCII(authority[at:])
}

// plausibleHost wants a host with a dot inside, or an IPv6 address in brackets, and a port up to 65535.
func plausibleHost(authority string) bool {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		if port, err := strconv.Atoi(host[i+1:]); err != nil || port < 1 || port > 65535 {
			return false
		}
		host = host[:i]
	}
	if strings.HasPrefix(host, "[") {
		return strings.HasSuffix(host, "]")
	}
	return strings.Contains(host, ".") && strings.Trim(host, ".") != "" && !strings.ContainsAny(host, " \t\n\"<>\\")
}
