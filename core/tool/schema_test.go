package tool

import (
	"encoding/json"
	"testing"
)

// TestEverySchemaIsLookedAt: what a schema is made of, objects or not, is no reason to panic, and whatever can be checked by is kept to.
func TestEverySchemaIsLookedAt(t *testing.T) {
	for schema, fits := range map[string]bool{ // whether {} fits
		`true`: true, `{}`: true, ` true `: true, `{"not":true}`: false, `{"required":["a"]}`: false, `{"allOf":[true,{}]}`: true,
		`{"properties":{"a":false}}`: true,
	} {
		c := checker(json.RawMessage(schema))
		if c == nil {
			t.Errorf("%s: can't be checked by", schema)
		} else if _, err := c.hold(`{}`); (err == nil) != fits {
			t.Errorf("%s: %v", schema, err)
		}
	}
	for _, schema := range []string{``, `nul`, `1`, `"a"`, `[]`, `[true]`, `{"type":1}`, `{"allOf":true}`} {
		if c := checker(json.RawMessage(schema)); c != nil {
			t.Errorf("%q: something is checked", schema)
		}
	}
	for _, schema := range []string{`null`, `false`} { // whichever way they are taken
		if c := checker(json.RawMessage(schema)); c != nil {
			_, _ = c.hold(`{}`)
		}
	}
}

// FuzzChecker: whatever is sent as a schema, and whatever is held against it, is JSON or an error.
func FuzzChecker(f *testing.F) {
	f.Add([]byte(`true`), `{}`)
	f.Add([]byte(`false`), `1`)
	f.Add([]byte(`null`), `null`)
	f.Add([]byte(`[{}]`), `[]`)
	f.Add([]byte(`{"items":true,"properties":{"a":false}}`), `{"a":"1"}`)
	f.Add([]byte("\"\xff\""), "\u2000{}")
	f.Fuzz(func(t *testing.T, schema []byte, args string) {
		c := checker(schema)
		if c == nil {
			return
		}
		if c.cost < 1 {
			t.Errorf("a check for %d", c.cost)
		}
		if out, err := c.hold(args); err == nil && !json.Valid(out) {
			t.Errorf("%q became %q", args, out)
		}
	})
}
