package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"orebot/core/ledger"
	"orebot/core/tool"
)

// TestSlipsOfSmallModelsArePutRight: arguments whose meaning is plain are the tool's as its schema wants them. What isn't plain is the model's
// to mend, and what fits is left as it was written.
func TestSlipsOfSmallModelsArePutRight(t *testing.T) {
	const schema = `{"type":"object","required":["n"],"additionalProperties":false,"properties":{
		"n":{"type":"integer","maximum":9223372036854775807},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},"l":{"type":"array","items":{"type":"string"}},
		"o":{"$ref":"#/$defs/o"},"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},"two":{"type":["string","integer"]},"any":{}},
		"$defs":{"o":{"type":"object","properties":{"n":{"type":"integer"},"o":{"$ref":"#/$defs/o"}}}}}`
	for args, want := range map[string]string{
		`{ "n": 1 }`:                      `{ "n": 1 }`, // untouched
		`{"n":"1"}`:                       `{"n":1}`,
		`{"n":" -9007199254740993 "}`:     `{"n":-9007199254740993}`,
		`{"n":"1","f":"2.50","b":"True"}`: `{"b":true,"f":2.50,"n":1}`,
		`{"n":"1","b":"false","s":12345678901234567890}`:  `{"b":false,"n":1,"s":"12345678901234567890"}`,
		`{"n":"1","s":true,"any":"2"}`:                    `{"any":"2","n":1,"s":"true"}`,
		`{"n":1,"l":"a"}`:                                 `{"l":["a"],"n":1}`,
		`{"n":1,"l":"[\"a\",1]"}`:                         `{"l":["a","1"],"n":1}`,
		`{"n":1,"o":"{\"n\":\"2\",\"o\":{\"n\":\"3\"}}"}`: `{"n":1,"o":{"n":2,"o":{"n":3}}}`,
		`{"n":1,"s":null,"maybe":"7"}`:                    `{"maybe":7,"n":1}`,
		`{"n":"1","maybe":"None"}`:                        `{"maybe":null,"n":1}`,
		`{"n":"1","two":"2"}`:                             `{"n":1,"two":"2"}`,
		`{"n":null}`:                                      ``,
		`{"n":"one"}`:                                     ``,
		`{"n":"1.5"}`:                                     ``,
		`{"n":"1 2"}`:                                     ``,
		`{"n":"1","x":2}`:                                 ``,
		`{"n":1,"b":"yes"}`:                               ``,
		`{"n":1,"b":1}`:                                   ``,
		`{"n":1,"l":null,"o":"[]"}`:                       ``,
	} {
		var got string
		b := newBench(t, tool.Runner{}, tool.Tool{Name: "t", Parameters: json.RawMessage(schema),
			Call: func(_ context.Context, args json.RawMessage) (string, error) { got = string(args); return "ran", nil }})
		b.say(t, ledger.RoleAssistant, call("1", "t", args))
		if res := b.results(); got != want || len(res) != 1 || (want == "") != strings.Contains(res[0], "don't fit the tool") {
			t.Errorf("%s: got %s, want %s, %q", args, got, want, res)
		}
	}
}

// spent is the time that the processors have given this process: other than the clock's, it doesn't grow with what else runs.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestACheckComesToAnEnd: whatever a schema makes of many values, or of long ones. Where the work would be too much, nothing is checked:
// the arguments lack what the schema requires, and the tool runs.
func TestACheckComesToAnEnd(t *testing.T) {
	double := `{"properties":{"a":{"items":{"$ref":"#/$defs/a0"}}},"$defs":{`
	for i := range 11 {
		double += fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	double += `"a11":{"type":"integer"}},"required":["b"]}`
	patterns := `{"properties":{"a":{"items":{"patternProperties":{`
	for i := range 1000 {
		patterns += fmt.Sprintf(`"%d(x*)*y":{},`, i)
	}
	patterns += `"z":{}}}}},"required":["b"]}`
	numbers := strings.Repeat("1,", 100_000) + "1" // minutes, where nothing bounds the doubling
	for name, tt := range map[string]struct{ schema, args, want string }{
		"doubling": {double, numbers, "ran"},
		"patterns": {patterns, `{"a":[{"1` + strings.Repeat("x", 40_000) + `":1}]}`, "ran"},
		"unique":   {`{"properties":{"a":{"uniqueItems":true}}}`, numbers, "unique"},
		"nested":   {`{"properties":{"a":{"$ref":"#"}}}`, strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000), "ran"},
		"lists":    {`{"properties":{"a":{"items":{"$ref":"#/properties/a"}}}}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "ran"},
	} {
		b := newBench(t, tool.Runner{}, tool.Tool{Name: "t", Parameters: json.RawMessage(tt.schema),
			Call: func(context.Context, json.RawMessage) (string, error) { return "ran", nil }})
		args, begin := tt.args, spent(t)
		if args[0] != '{' {
			args = `{"a":[` + args + `]}`
		}
		b.say(t, ledger.RoleAssistant, call("1", "t", args))
		if took := spent(t) - begin; took > time.Minute || len(b.results()) != 1 || !strings.Contains(b.results()[0], tt.want) {
			t.Errorf("%s: %v, %q, want %q", name, took, b.results(), tt.want)
		}
	}
}
