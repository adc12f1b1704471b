package telegram

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"orebot/conduit/markup"
)

// look is how text is shown: with a style, as a link, or plain.
type look struct {
	url   string
	style markup.Style
}

// lookOf returns the look of a run. Telegram shows nothing within code, and
// drops a link that is all code: the link wins here.
func lookOf(r markup.Run, style markup.Style) look {
	l := look{style: r.Style | style}
	if linkable(r.Link) {
		l.url = r.Link
		l.style &^= markup.Code
	}
	if l.style&markup.Code != 0 {
		l.style = markup.Code
	}
	return l
}

// linkable says whether Telegram accepts an address as a link: http or https to
// a host with a dot or to an IP address. Others it drops without a word, so
// they are shown as text. It accepts names without a scheme too, but README.md
// would be one, and tg: addresses, but those can mention a person.
func linkable(s string) bool {
	if len(s) > 2000 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == utf8.RuneError }) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return false
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return dotted(host)
}

// dotted says whether a host name has a top-level domain of letters.
func dotted(host string) bool {
	i := strings.LastIndexByte(host, '.')
	if i <= 0 || strings.Contains(host, "..") {
		return false
	}
	tld := host[i+1:]
	return len(tld) >= 2 && !strings.ContainsFunc(tld, func(r rune) bool {
		return r < 0x80 && !unicode.IsLetter(r) && !strings.HasPrefix(tld, "xn--")
	})
}

// htmlWriter writes a page. White space waits until text follows it, so that
// none is left at either end of the message, where Telegram would trim it.
type htmlWriter struct {
	html, plain strings.Builder
	page        page
	now         look  // of the tags that are open
	waiting     []gap // white space to come
	begun       bool  // text was written
	quote       int   // the block quote that is open
	wanted      int   // the one to open before the next text
	last, prior rune  // the last two characters written
}

type gap struct {
	text string
	look look
}

// space writes white space without a look. A line ends without any.
func (w *htmlWriter) space(s string) {
	for n := len(w.waiting); s[0] == '\n' && n > 0 && strings.Trim(w.waiting[n-1].text, " ") == ""; n-- {
		w.waiting = w.waiting[:n-1]
	}
	w.waiting = append(w.waiting, gap{s, look{}})
}

// text writes a stretch of one line.
func (w *htmlWriter) text(s string, l look) {
	s = cleanText(s)
	body := strings.TrimLeft(s, " ")
	if n := len(s) - len(body); n > 0 {
		w.waiting = append(w.waiting, gap{s[:n], l})
	}
	body = strings.TrimRight(body, " ")
	trail := strings.TrimLeft(s, " ")[len(body):]
	if body != "" {
		w.flush()
		w.shift(l)
		if l.style&markup.Code == 0 {
			body = w.defang(body)
		}
		if l.style&markup.Code == 0 && l.url == "" {
			w.page.marks += marks(body)
		}
		w.put(body)
	}
	if trail != "" {
		w.waiting = append(w.waiting, gap{trail, l})
	}
}

// words writes a stretch of one line in which file names stand as code, so that they can be copied and lead nowhere.
func (w *htmlWriter) words(s string, l look) {
	s = cleanText(s)
	if l.url == "" && l.style&markup.Code == 0 {
		for from, to := fileNameIn(s); from >= 0; from, to = fileNameIn(s) {
			w.text(s[:from], l)
			w.text(s[from:to], look{style: markup.Code})
			s = s[to:]
		}
	}
	w.text(s, l)
}

// flush writes the white space that waits, and starts the quote that does: text
// follows.
func (w *htmlWriter) flush() {
	for _, g := range w.waiting {
		if w.begun {
			w.shift(g.look)
			w.put(g.text)
		}
	}
	w.waiting = w.waiting[:0]
	if w.wanted != 0 {
		w.shift(look{})
		w.tag("<blockquote>")
		w.quote, w.wanted = w.wanted, 0
	}
}

// put writes text as it is, and counts it.
func (w *htmlWriter) put(s string) {
	w.begun = w.begun || s != ""
	w.plain.WriteString(s)
	start := 0
	for i, r := range s {
		w.page.units++
		if r > 0xffff {
			w.page.units++
		}
		w.prior, w.last = w.last, r
		if e := escapeRune(r); e != "" {
			w.html.WriteString(s[start:i])
			w.html.WriteString(e)
			start = i + 1
		}
	}
	w.html.WriteString(s[start:])
}

// escapeRune returns what stands for a character that HTML text can't have.
func escapeRune(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return ""
}

// attrEscaper escapes the value of an attribute in double quotes.
var attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// tag writes an opening tag, which is an entity.
func (w *htmlWriter) tag(t string) {
	w.html.WriteString(t)
	w.page.entities++
}

// shift closes and opens tags until those of a look are open.
func (w *htmlWriter) shift(l look) {
	if l == w.now {
		return
	}
	var from, to [5]string
	old, fresh := lookTags(w.now, from[:0]), lookTags(l, to[:0])
	same := 0
	for same < len(old) && same < len(fresh) && old[same] == fresh[same] && (same > 0 || l.url == w.now.url) {
		same++
	}
	for i := len(old) - 1; i >= same; i-- {
		w.html.WriteString("</" + old[i] + ">")
	}
	for _, t := range fresh[same:] {
		if t == "a" {
			w.tag(`<a href="` + attrEscaper.Replace(l.url) + `">`)
			w.page.urls += len(l.url)
		} else {
			w.tag("<" + t + ">")
		}
	}
	w.now = l
}

// lookTags appends the tags of a look, outermost first.
func lookTags(l look, out []string) []string {
	if l.url != "" {
		out = append(out, "a")
	}
	if l.style&markup.Code != 0 {
		return append(out, "code")
	}
	if l.style&markup.Bold != 0 {
		out = append(out, "b")
	}
	if l.style&markup.Italic != 0 {
		out = append(out, "i")
	}
	if l.style&markup.Strike != 0 {
		out = append(out, "s")
	}
	return out
}

// defang puts an invisible word joiner between @ or / and the name behind it,
// wherever Telegram would make a mention, which pings, or a command, which
// sends when touched, of what the model wrote. Paths, addresses and e-mail
// addresses are none of these and stay as they are.
func (w *htmlWriter) defang(s string) string {
	if !strings.ContainsAny(s, "@/") && w.last != '@' && w.last != '/' {
		return s
	}
	var out strings.Builder
	prior, last := w.prior, w.last
	for i, r := range s {
		if last == '@' && !wordRune(prior) && nameRune(r) || last == '/' && commandAt(prior, s[i:]) {
			out.WriteRune('\u2060')
		}
		out.WriteRune(r)
		prior, last = last, r
	}
	return out.String()
}

// commandAt says whether name follows a slash such that both are a command.
func commandAt(prior rune, name string) bool {
	end := 0
	for end < len(name) && nameRune(rune(name[end])) {
		end++
	}
	if end == 0 || wordRune(prior) || strings.ContainsRune("/<>", prior) {
		return false
	}
	return end == len(name) || strings.IndexByte("/<>", name[end]) < 0
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func nameRune(r rune) bool { return r < 0x80 && wordRune(r) }

// cleanText replaces what Telegram would remove or change in a line: tabs and other
// control characters are spaces, overrides of the writing direction are gone, and so
// are the three marks that the server takes out of every text (clean_input_string):
// left in, one would hide a mention from defang that is one when it is shown.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202a && r <= 0x202e, r == 0x030a, r == 0x0333, r == 0x033f:
			return -1
		case r == '\n':
			return r
		case r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029:
			return ' '
		}
		return r
	}, s)
}
