package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// mender puts right what small models get wrong in arguments whose meaning is plain: a number, a truth value, a list or an object that
// stands in quotes, a number where a text belongs, a single value in place of a list of one, null for what may be left out. What comes out
// is checked like any other arguments.
type mender struct {
	root any // the schema's document
}

// mend returns v as it was meant, where the schema says so, and else as it is. Numbers are json.Numbers.
func (m mender) mend(v, schema any) any {
	s, kinds := m.read(schema)
	if s == nil {
		return v
	}
	if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return is(v, k) }) {
		v = meant(v, kinds)
	}
	switch v := v.(type) {
	case map[string]any:
		m.object(v, s)
	case []any:
		for i := range v {
			v[i] = m.mend(v[i], s["items"])
		}
	}
	return v
}

// object mends the members of v, and drops those that are null where they may be left out and not null.
func (m mender) object(v, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for k, member := range v {
		sub, known := properties[k]
		if !known {
			continue
		}
		_, kinds := m.read(sub)
		if member == nil && len(kinds) > 0 && !slices.Contains(kinds, "null") && !slices.Contains(required, any(k)) {
			delete(v, k)
			continue
		}
		v[k] = m.mend(member, sub)
	}
}

// read returns the schema that is meant, through one reference, and the kinds of values that it allows by its type or, as many generators
// write what may be null, by the types of its alternatives; none: any kind.
func (m mender) read(schema any) (s map[string]any, kinds []string) {
	s, _ = schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		target, _ := (&walk{root: m.root}).lookUp(ref)
		s, _ = target.(map[string]any)
	}
	if kinds = typesOf(s); len(kinds) > 0 {
		return s, kinds
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		for _, one := range list {
			alternative, _ := one.(map[string]any)
			t := typesOf(alternative)
			if len(t) == 0 {
				return s, nil
			}
			kinds = append(kinds, t...)
		}
	}
	return s, kinds
}

func typesOf(s map[string]any) (kinds []string) {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			if k, ok := one.(string); ok {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// is reports whether a value is of a kind.
func is(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case json.Number:
		return kind == "number" || kind == "integer" && !strings.ContainsAny(v.String(), ".eE")
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

// meant returns v as one of the kinds, none of which it is; and as it is where it can't be.
func meant(v any, kinds []string) any {
	if text, ok := v.(string); ok {
		if in, ok := quoted(text, kinds); ok {
			return in
		}
	}
	switch v := v.(type) {
	case json.Number, bool:
		if slices.Contains(kinds, "string") {
			return fmt.Sprint(v)
		}
	}
	if len(kinds) == 1 && kinds[0] == "array" && v != nil {
		return []any{v}
	}
	return v
}

// quoted returns the value that stands in a text, where it is of one of the kinds. A truth value may be written as in Python.
func quoted(text string, kinds []string) (any, bool) {
	text = strings.TrimSpace(text)
	switch text {
	case "True", "False", "None":
		text = strings.NewReplacer("True", "true", "False", "false", "None", "null").Replace(text)
	}
	v, err := decode(text)
	if err != nil || !slices.ContainsFunc(kinds, func(k string) bool { return is(v, k) }) {
		return nil, false
	}
	return v, true
}

// decode reads one JSON value; its numbers stay as they are written.
func decode(text string) (v any, err error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("no JSON: %.20q", text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
