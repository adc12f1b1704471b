package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/tool"
)

func named(names ...string) (out []tool.Tool) {
	for _, n := range names {
		out = append(out, text(n, func() (string, error) { return n, nil }))
	}
	return out
}

func offered(r *tool.Registry) string {
	var names []string
	for _, t := range provider.Apply(r.Offer()).Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// TestTheOrderOfToolsIsStable: whichever group came first and in whatever order its tools were listed, a prompt begins alike.
func TestTheOrderOfToolsIsStable(t *testing.T) {
	r := tool.NewRegistry(0, "built-in", "x", "a")
	for _, step := range []struct {
		group string
		tools []tool.Tool
		want  string
	}{
		{"a", named("a__2", "a__1"), "a__1 a__2"},
		{"x", named("x__z", "x__a"), "x__a x__z a__1 a__2"},
		{"built-in", named("get_time"), "get_time x__a x__z a__1 a__2"},
		{"x", named("x__z", "x__b"), "get_time x__b x__z a__1 a__2"},
		{"x", nil, "get_time a__1 a__2"},
	} {
		if err := r.Set(step.group, step.tools); err != nil {
			t.Fatal(err)
		}
		if got := offered(r); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// TestWhatIsLeftOutIsNamed: a tool that can't be offered is an error by its name, and keeps no other one out.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	r := tool.NewRegistry(400, "one", "two")
	bad := tool.Tool{Name: "bad", Parameters: json.RawMessage(`[1]`), Call: named("x")[0].Call}
	fat := tool.Tool{Name: "fat", Description: strings.Repeat("x", 400), Call: bad.Call}
	err := r.Set("one", append(named("ok", "ok", "has space", ""), bad, fat, tool.Tool{Name: "nothing"}))
	for _, want := range []string{"ok: the name is taken", `"has space"`, `""`, "bad: the schema", "fat: no room", "nothing: nothing runs it"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v doesn't say %q", err, want)
		}
	}
	if got := offered(r); got != "ok" || r.Size() == 0 {
		t.Errorf("offered %q", got)
	}
	if err := r.Set("two", named("ok", "other")); err == nil || !strings.Contains(err.Error(), "ok: the name is taken") || offered(r) != "ok other" {
		t.Errorf("%v, offered %q", err, offered(r))
	}
	if err := r.Set("three", nil); err == nil {
		t.Error("a group that isn't there was set")
	}
}

// TestHostileSchemasDoNoHarm: references in a circle, and ones that double at each step, would take the stack or the day. Such a tool
// is offered, and its arguments aren't checked; a schema that only describes a tree is.
func TestHostileSchemasDoNoHarm(t *testing.T) {
	double := `{"type":"object","$ref":"#/$defs/a0","$defs":{`
	for i := range 40 {
		n := string(rune('a')) + string(rune('0'+i))
		next := string(rune('a')) + string(rune('0'+i+1))
		double += `"` + n + `":{"allOf":[{"$ref":"#/$defs/` + next + `"},{"$ref":"#/$defs/` + next + `"}]},`
	}
	double += `"` + string(rune('a')) + string(rune('0'+40)) + `":{}}}`
	tree := `{"type":"object","properties":{"sub":{"$ref":"#"},"n":{"type":"integer"}},"additionalProperties":false}`
	for name, tt := range map[string]struct{ schema, args, want string }{
		"itself":          {`{"$ref":"#"}`, `{}`, "ran"},
		"in a circle":     {`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, `{}`, "ran"},
		"in capitals":     {`{"$REF":"#"}`, `{}`, "ran"},
		"in odd case":     {`{"ALLOF":[{"$ref":"#"}]}`, `{}`, "ran"},
		"a long s":        {`{"dependent\u017fchemas":{"a":{"$ref":"#"}}}`, `{"a":1}`, "ran"},
		"one of two":      {`{"dependentSchemas":{"a":{"$ref":"#"}},"dependentSchemas":{"b":false}}`, `{"a":1}`, "ran"},
		"the second":      {`{"dependentSchemas":{"a":{"$ref":"#"}},"dependentSchemas":{"b":false}}`, `{"a":1,"b":1}`, "error"},
		"two in one":      {`{"allOf":[{"$ref":"#/properties/a"}],"Properties":{"a":{"$ref":"#/properties/a"}},"properties":{"a":{}}}`, `{}`, "ran"},
		"behind a %":      {`{"allOf":[{"$ref":"#/properties/%61"}],"properties":{"%61":{},"a":{"$ref":"#/properties/%61"}}}`, `{}`, "ran"},
		"large numbers":   {`{"properties":{"n":{"minimum":9007199254740993}}}`, `{"n":1}`, "error"},
		"below":           {`{"properties":{"x":{"$ref":"#/properties/x"}}}`, `{"x":1}`, "ran"},
		"another base":    {`{"properties":{"x":{"$id":"http://example.org/x","$ref":"#"}}}`, `{"x":1}`, "ran"},
		"doubling":        {double, `{}`, "ran"},
		"elsewhere":       {`{"$ref":"http://127.0.0.1:1/schema.json"}`, `{}`, "ran"},
		"another dialect": {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","required":["x"]}`, `{}`, "ran"},
		"lookahead":       {`{"properties":{"x":{"type":"string","pattern":"(?=a)"}}}`, `{"x":"b"}`, "ran"},
		"a tree":          {tree, `{"sub":{"sub":{"n":1}}}`, "ran"},
		"not this tree":   {tree, `{"sub":{"sub":{"n":"one"}}}`, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tool.Runner{}, tool.Tool{Name: "t", Parameters: json.RawMessage(tt.schema),
				Call: func(context.Context, json.RawMessage) (string, error) { return "ran", nil }})
			b.say(t, ledger.RoleAssistant, call("1", "t", tt.args))
			got := b.results()
			if len(got) != 1 || (got[0] == "1 false ran") != (tt.want == "ran") {
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 29, 20, 3, 21, 0, time.UTC)
	home := time.FixedZone("CET", 3600)
	for args, want := range map[string]string{
		``:                       "1 false Sunday, 29 November 2026, 21:03:21, time zone CET (2026-11-29T21:03:21+01:00)",
		`{"tz":"UTC"}`:           "1 false Sunday, 29 November 2026, 20:03:21, time zone UTC (2026-11-29T20:03:21Z)",
		`{"tz":"Asia/Tokyo"}`:    "1 false Monday, 30 November 2026, 05:03:21, time zone Asia/Tokyo (2026-11-30T05:03:21+09:00)",
		`{"tz":"Berlin"}`:        `1 true there is no time zone "Berlin"; use an IANA name such as Europe/Berlin, or UTC`,
		`{"tz":"../etc/passwd"}`: `1 true there is no time zone "../etc/passwd"; use an IANA name such as Europe/Berlin, or UTC`,
		`{"tz":[7]}`:             "1 true the arguments don't fit the tool: *",
		`{"tz":null}`:            "1 false Sunday, 29 November 2026, 21:03:21, time zone CET (2026-11-29T21:03:21+01:00)",
	} {
		b := newBench(t, tool.Runner{}, tool.Clock(func() time.Time { return now }, home))
		b.say(t, ledger.RoleAssistant, call("1", "get_time", args))
		if got := b.results(); len(got) != 1 || !like(got[0], want) {
			t.Errorf("%s: got %q", args, got)
		}
		if !like(want, "*don't fit*") && strings.Join(b.acts, " ") != "Looking at the clock true Looking at the clock false" {
			t.Errorf("activity %q", b.acts)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("hello", 3)
	f.Add(strings.Repeat("ä€😀", 50), 37)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := tool.Clip(s, limit%5000)
		if len(s) <= limit%5000 && got != s {
			t.Errorf("a text that fits was changed")
		}
		if len(got) > max(limit%5000, 0)+100 && len(s) > limit%5000 {
			t.Errorf("%d bytes for a limit of %d", len(got), limit%5000)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("a character was cut")
		}
	})
}

// FuzzArguments: whatever a model writes as arguments, and whatever schema a server sends, a call has one result.
func FuzzArguments(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{}}`)
	f.Add(`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{}}}}`, `{"a":1e999}`)
	f.Add(`{"$ref":"#/properties/a~1b","properties":{"a/b":{"$ref":"#/properties/a~1b"}}}`, `[]`)
	f.Add(`{"ANYOF":[{"$ref":"#"}],"not":{"$Ref":"#/%6eot"}}`, "{\"\u2000\":\"\xff\",\"a\":1,\"A\":2}")
	f.Add(`{"properties":{"a":{"type":"string","pattern":"("}},"dependentSchemas":{"a":{"$ref":"#"}}}`, `{"a":""}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		reg := tool.NewRegistry(0, "g")
		if reg.Set("g", []tool.Tool{{Name: "t", Parameters: json.RawMessage(schema),
			Call: func(context.Context, json.RawMessage) (string, error) { return "ran", nil }}}) != nil {
			return
		}
		r := &tool.Runner{Registry: reg}
		n := 0
		err := r.Handle(t.Context(), artifact.ToolCall{Name: "t", Arguments: args}, counting{&n})
		if err != nil || n != 1 {
			t.Errorf("%d results, %v", n, err)
		}
	})
}

// counting counts results.
type counting struct{ n *int }

func (c counting) Emit(_ context.Context, ev loop.OutputEvent) {
	if _, ok := ev.(loop.TurnCompleteEvent); ok {
		*c.n++
	}
}
