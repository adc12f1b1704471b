package config

import (
	"reflect"

	"orebot/internal/secret"
)

// Field is one key with its value.
type Field struct {
	Key   string // dotted, such as "slack.bot_token"
	Value any    // the value of the struct field; a secret.String is one here too
}

// Fields returns every key in the order of the file. "mcp" and "ollama.options" are one field each.
func (c *Config) Fields() []Field {
	var out []Field
	walk("", reflect.ValueOf(c).Elem(), func(key string, v reflect.Value) {
		out = append(out, Field{key, v.Interface()})
	})
	return out
}

// walk calls f for each leaf below the struct v.
func walk(prefix string, v reflect.Value, f func(key string, v reflect.Value)) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("toml")
		switch {
		case name == "-":
		case isTable(v.Field(i).Type()):
			walk(prefix+name+".", v.Field(i), f)
		default:
			f(prefix+name, v.Field(i))
		}
	}
}

// isTable reports whether t is a table of the file and not a value.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[secret.String]()
}

// tagged returns the field of the struct v with this key.
func tagged(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if key != "-" && v.Type().Field(i).Tag.Get("toml") == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// keysOf lists the keys of the struct v.
func keysOf(v reflect.Value) []string {
	var out []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("toml"); name != "-" {
			out = append(out, name)
		}
	}
	return out
}
