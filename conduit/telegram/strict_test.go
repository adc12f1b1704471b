package telegram

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	strictTag  = regexp.MustCompile(`^<(/?)([a-z]+)((?: [a-z]+="[^"<>]*")?)>`)
	strictChar = regexp.MustCompile(`^&(?:(lt|gt|amp|quot)|#([0-9]{1,7}));`)
)

// parseStrict reads HTML as Telegram does, or stricter: only the tags that are
// meant to be used, properly nested, nothing within code, and nothing bare that
// must be escaped. It is independent of the renderer.
func parseStrict(s string) (plain string, entities int, err error) {
	var out strings.Builder
	var open []string
	for i := 0; i < len(s); {
		switch s[i] {
		case '<':
			m := strictTag.FindStringSubmatch(s[i:])
			if m == nil {
				return "", 0, fmt.Errorf("bare < at %d", i)
			}
			if open, err = strictStep(open, m[1] != "", m[2], strings.TrimSpace(m[3])); err != nil {
				return "", 0, fmt.Errorf("at %d: %w", i, err)
			}
			if m[1] == "" && (m[2] != "code" || len(open) < 2 || open[len(open)-2] != "pre") {
				entities++
			}
			i += len(m[0])
		case '&':
			m := strictChar.FindStringSubmatch(s[i:])
			if m == nil {
				return "", 0, fmt.Errorf("bare & at %d", i)
			}
			out.WriteString(strictDecode(m[1], m[2]))
			i += len(m[0])
		case '>':
			return "", 0, fmt.Errorf("bare > at %d", i)
		default:
			out.WriteByte(s[i])
			i++
		}
	}
	if len(open) > 0 {
		return "", 0, fmt.Errorf("left open: %v", open)
	}
	return out.String(), entities, nil
}

func strictStep(open []string, end bool, tag, attr string) ([]string, error) {
	if end {
		if len(open) == 0 || open[len(open)-1] != tag || attr != "" {
			return nil, fmt.Errorf("</%s> doesn't close %v", tag, open)
		}
		return open[:len(open)-1], nil
	}
	top := ""
	if len(open) > 0 {
		top = open[len(open)-1]
	}
	switch {
	case top == "code" || top == "pre" && (tag != "code" || !strings.HasPrefix(attr, "class=\"language-")):
		return nil, fmt.Errorf("<%s> in %s", tag, top)
	case strings.Contains(" "+strings.Join(open, " ")+" ", " "+tag+" "):
		return nil, fmt.Errorf("<%s> in itself", tag)
	}
	switch tag {
	case "a":
		if !strings.HasPrefix(attr, `href="http`) {
			return nil, fmt.Errorf("link %s", attr)
		}
	case "code":
		if (attr != "") != (top == "pre") {
			return nil, fmt.Errorf("code %s", attr)
		}
	case "blockquote":
		if top != "" {
			return nil, fmt.Errorf("quote in %s", top)
		}
	case "b", "i", "s", "pre":
	default:
		return nil, fmt.Errorf("<%s>", tag)
	}
	if attr != "" && tag != "a" && tag != "code" {
		return nil, fmt.Errorf("<%s %s>", tag, attr)
	}
	return append(open, tag), nil
}

func strictDecode(name, number string) string {
	if n, err := strconv.Atoi(number); err == nil {
		return string(rune(n))
	}
	return map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}[name]
}
