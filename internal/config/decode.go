package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"orebot/internal/secret"
)

// maxFile bounds the file, against a path that leads to something else.
const maxFile = 1 << 20

// decoder puts a parsed file into a Config and collects what doesn't fit.
type decoder struct {
	set     map[string]bool // keys and tables that the file has
	problem func(key, text string)
}

// decode reads data over c. It returns false where data is no TOML at all.
func (d *decoder) decode(data []byte, c *Config) bool {
	if len(data) > maxFile {
		d.problem("", "is larger than 1 MiB; this is no configuration file")
		return false
	}
	tree := map[string]any{}
	if _, err := toml.Decode(string(data), &tree); err != nil {
		d.problem("", syntax(err, string(data)))
		return false
	}
	d.table("", reflect.ValueOf(c).Elem(), tree)
	return true
}

// syntax says where the file stops being TOML. The parser's message quotes the file, so it is left out where the line
// or the key may hold a secret.
func syntax(err error, data string) string {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return "is not TOML"
	}
	where := fmt.Sprintf("line %d: ", pe.Position.Line)
	if lines := strings.Split(data, "\n"); pe.Position.Line > 0 && pe.Position.Line <= len(lines) {
		if secretName(lines[pe.Position.Line-1]) || secretName(pe.LastKey) {
			return where + remedy(pe.Message)
		}
	}
	text := where + (*secret.Redactor)(nil).Redact(pe.Message)
	if strings.Contains(pe.Message, "expected value") {
		text += "; text goes in double quotes"
	}
	return text
}

// remedy says what to do about a line that isn't quoted, from the parser's message, of which nothing is passed on.
func remedy(message string) string {
	switch {
	case strings.Contains(message, "already been defined"):
		return "is there twice; keep one of them"
	case strings.Contains(message, "to end table name"):
		return "is not TOML; the table's name at or above this line lacks its ]"
	}
	return "is not TOML; put the secret in double quotes, on one line"
}

// secretName reports whether s speaks of a secret.
func secretName(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc([]string{"token", "api_key", "proxy_url", "env", "secret", "password"}, func(w string) bool {
		return strings.Contains(s, w)
	})
}

func (d *decoder) table(prefix string, v reflect.Value, tree map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		full := prefix + key
		field, ok := tagged(v, key)
		if !ok {
			d.problem(full, "unknown key"+suggestion(prefix, key, keysOf(v)))
			continue
		}
		d.set[full] = true
		if text := d.value(full, field, tree[key]); text != "" {
			d.problem(full, text)
		}
	}
}

// value stores raw in v, or returns what is wrong with it.
func (d *decoder) value(key string, v reflect.Value, raw any) string {
	switch p := v.Addr().Interface().(type) {
	case *secret.String:
		return secretValue(p, raw)
	case *Duration:
		return durationValue(p, raw)
	case *map[string]any:
		return mapValue(p, raw)
	case *map[string]secret.String:
		return d.secretMap(p, raw)
	case *[]int64:
		return idList(p, raw)
	case *[]string:
		return stringList(p, raw)
	case *[]MCP:
		return d.tables(key, p, raw)
	}
	if isTable(v.Type()) {
		tree, ok := raw.(map[string]any)
		if !ok {
			return "want a table: [" + key + "]"
		}
		d.table(key+".", v, tree)
		return ""
	}
	return scalar(v, raw)
}

func scalar(v reflect.Value, raw any) string {
	switch r := raw.(type) {
	case string:
		if v.Kind() == reflect.String {
			v.SetString(r)
			return ""
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(r)
			return ""
		}
	case int64:
		if v.Kind() == reflect.Int {
			v.SetInt(r)
			return ""
		}
		if v.Kind() == reflect.Float64 {
			v.SetFloat(float64(r))
			return ""
		}
	case float64:
		if v.Kind() == reflect.Float64 && !math.IsNaN(r) {
			v.SetFloat(r)
			return ""
		}
	}
	want := map[reflect.Kind]string{reflect.String: "text in double quotes", reflect.Bool: "true or false",
		reflect.Int: "a whole number", reflect.Float64: "a number"}
	return "want " + want[v.Kind()] + ", not " + show(raw)
}

func secretValue(p *secret.String, raw any) string {
	s, ok := raw.(string)
	if !ok {
		return "want text in double quotes"
	}
	*p = secret.New(strings.TrimSpace(s))
	return ""
}

func durationValue(p *Duration, raw any) string {
	switch r := raw.(type) {
	case string:
		d, err := ParseDuration(r)
		if err != nil {
			return err.Error()
		}
		*p = d
		return ""
	case int64:
		if r == 0 || r == -1 {
			*p = Duration(r)
			return ""
		}
		return fmt.Sprintf("%d has no unit; write \"%ds\" for seconds", r, r)
	}
	return "want a duration such as \"90s\", \"6h\" or \"2d\", not " + show(raw)
}

func mapValue(p *map[string]any, raw any) string {
	m, ok := raw.(map[string]any)
	if !ok {
		return "want a table, not " + show(raw)
	}
	if len(m) > 0 {
		*p = m
	}
	return ""
}

func (d *decoder) secretMap(p *map[string]secret.String, raw any) string {
	m, ok := raw.(map[string]any)
	if !ok {
		return "want a table of names and texts, such as { HOME = \"/tmp\" }"
	}
	out := map[string]secret.String{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		s, ok := m[name].(string)
		if !ok {
			return "want text in double quotes for " + strconv.Quote(name)
		}
		out[name] = secret.New(s)
	}
	if len(out) > 0 {
		*p = out
	}
	return ""
}

func stringList(p *[]string, raw any) string {
	list, ok := raw.([]any)
	if !ok {
		return "want a list such as [\"a\", \"b\"], not " + show(raw)
	}
	var out []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return "want text in double quotes in the list, not " + show(e)
		}
		out = append(out, s)
	}
	*p = out
	return ""
}

// idList takes numbers, also written as texts, which is how people copy them.
func idList(p *[]int64, raw any) string {
	list, ok := raw.([]any)
	if !ok {
		return "want a list such as [8246, 8247], not " + show(raw)
	}
	var out []int64
	for _, e := range list {
		n, ok := e.(int64)
		if s, text := e.(string); text {
			var err error
			n, err = strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			ok = err == nil
		}
		if !ok {
			return show(e) + " is not a numeric id; the bot's whoami command shows it"
		}
		out = append(out, n)
	}
	*p = out
	return ""
}

func (d *decoder) tables(key string, p *[]MCP, raw any) string {
	list, ok := raw.([]map[string]any)
	if !ok {
		return "want a list of tables: [[" + key + "]]"
	}
	for i, tree := range list {
		var m MCP
		d.table(fmt.Sprintf("%s[%d].", key, i+1), reflect.ValueOf(&m).Elem(), tree)
		*p = append(*p, m)
	}
	return ""
}

// show quotes a value in a sentence, shortened.
func show(raw any) string {
	s := fmt.Sprint(raw)
	switch r := raw.(type) {
	case string:
		s = strconv.Quote(r)
	case []any:
		return "a list"
	case map[string]any, []map[string]any:
		return "a table"
	}
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "…"
	}
	return (*secret.Redactor)(nil).Redact(s)
}
