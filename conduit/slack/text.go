package slack

import (
	"strings"
)

// unescaper turns the three entities of Slack's texts back, each once: it never looks at what it has written.
var unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// readTyped is readText for the text of a slash command, in which what a person typed isn't escaped: only what can't be anything but a
// token of Slack's is one.
func readTyped(s string, me identity) string { return readWith(s, me, surelyToken) }

// surelyToken reports whether a person hardly types such a thing by hand.
func surelyToken(token string) bool {
	body, _, _ := strings.Cut(token, "|")
	switch body[:min(1, len(body))] {
	case "@", "#":
		return validID(body[1:])
	case "!":
		return strings.HasPrefix(body, "!subteam^") || strings.HasPrefix(body, "!date^") || body == "!here" || body == "!channel" || body == "!everyone"
	}
	for _, scheme := range []string{"http://", "https://", "mailto:", "tel:"} {
		if strings.HasPrefix(body, scheme) {
			return true
		}
	}
	return false
}

// readText turns a message's text into what its author reads: mentions, channels, links and dates by their labels, entities decoded
// once, after the tokens are found.
func readText(s string, me identity) string {
	return readWith(s, me, func(string) bool { return true })
}

// readWith reads a text in which a token is what stands in brackets and what is says it is.
func readWith(s string, me identity, is func(token string) bool) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		b.WriteString(unescaper.Replace(s[:i]))
		s = s[i:]
		end := tokenEnd(s)
		if end < 0 || !is(s[1:end]) {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		b.WriteString(readToken(s[1:end], me))
		s = s[end+1:]
	}
	b.WriteString(unescaper.Replace(s))
	return b.String()
}

// tokenEnd returns where the token that s begins with is closed, or -1: a token has no line break and no other one in it.
func tokenEnd(s string) int {
	i := strings.IndexAny(s[1:], "<>\n")
	if i < 1 || s[1+i] != '>' {
		return -1
	}
	return 1 + i
}

// readToken is what a person reads of a token, given without its brackets.
func readToken(token string, me identity) string {
	body, label, labelled := strings.Cut(token, "|")
	body, label = unescaper.Replace(body), unescaper.Replace(label)
	labelled = labelled && label != ""
	switch body[:min(1, len(body))] {
	case "@":
		switch {
		case labelled:
			return "@" + strings.TrimPrefix(label, "@")
		case body[1:] == me.user && me.name != "":
			return "@" + me.name
		}
		return body
	case "#":
		if labelled {
			return "#" + strings.TrimPrefix(label, "#")
		}
		return body
	case "!":
		return readSpecial(body[1:], label)
	}
	return readLink(body, label)
}

// readSpecial reads <!here>, <!subteam^S1|@team>, <!date^…|fallback> and their kin.
func readSpecial(body, label string) string {
	kind, rest, _ := strings.Cut(body, "^")
	switch {
	case kind == "date" && label != "":
		return label
	case kind == "date":
		first, _, _ := strings.Cut(rest, "^")
		return first
	case kind == "subteam" && label == "":
		return "@" + rest
	case label != "":
		return "@" + strings.TrimPrefix(label, "@")
	}
	return "@" + kind
}

// readLink reads a link: its label and its address, or one of them where the label says nothing else. Slack labels what a person
// typed without a scheme, such as example.org.
func readLink(url, label string) string {
	bare := url
	for _, scheme := range []string{"mailto:", "tel:"} {
		bare = strings.TrimPrefix(bare, scheme)
	}
	switch {
	case label == "" || label == bare || label == url:
		return bare
	case strings.TrimSuffix(trimScheme(url), "/") == strings.TrimSuffix(trimScheme(label), "/"):
		return url
	}
	return label + " (" + bare + ")"
}

func trimScheme(url string) string {
	return strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
}

// mentioned reports whether a text, not yet decoded, names a user.
func mentioned(text, user string) bool {
	return strings.Contains(text, "<@"+user+">") || strings.Contains(text, "<@"+user+"|")
}

// leads returns the user or group that a text, not yet decoded, opens with, and the text behind. who is empty where it opens with
// something else.
func leads(text string) (who, rest string) {
	text = strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(text, "<@") && !strings.HasPrefix(text, "<!subteam^") {
		return "", text
	}
	end := tokenEnd(text)
	if end < 0 {
		return "", text
	}
	who, _, _ = strings.Cut(strings.TrimPrefix(text[1:end], "@"), "|")
	return who, text[end+1:]
}

// stripCall takes the mention of the bot off the front of a text, with the comma or colon behind it.
func stripCall(text, user string) string {
	for {
		who, rest := leads(text)
		if who != user || who == "" {
			return text
		}
		text = strings.TrimLeft(strings.TrimLeft(rest, ":,"), " \t\r\n")
	}
}
