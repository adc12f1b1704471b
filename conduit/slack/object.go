package slack

import (
	"encoding/json"
	"strings"
)

// object is a JSON object of which only what is asked for is decoded, each field by itself: one of an unexpected type is as good
// as absent.
type object map[string]json.RawMessage

// text returns a string. A number's digits count as one, as they stand there.
func (o object) text(key string) string {
	raw := o[key]
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw)
	}
	return ""
}

// flag returns a boolean; Slack writes some as strings.
func (o object) flag(key string) bool {
	s := string(o[key])
	return s == "true" || s == `"true"`
}

// size returns a number that counts something, 0 where there is none.
func (o object) size(key string) int64 {
	var n int64
	if json.Unmarshal(o[key], &n) != nil {
		return 0
	}
	return max(n, 0)
}

// object returns an object, nil where there is none.
func (o object) object(key string) object {
	var v object
	_ = json.Unmarshal(o[key], &v)
	return v
}

// list returns the objects of an array; what isn't one is left out.
func (o object) list(key string) []object {
	var raw []json.RawMessage
	_ = json.Unmarshal(o[key], &raw)
	var out []object
	for _, r := range raw {
		var v object
		if json.Unmarshal(r, &v) == nil && v != nil {
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether the field's JSON, written without blanks as Slack writes it, contains a text.
func (o object) holds(key, text string) bool { return strings.Contains(string(o[key]), text) }
