package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestOutline: of an object that is too large it is found whose answer it is, wherever that stands, and in whatever pieces it comes.
func TestOutline(t *testing.T) {
	big := `"result":{"id":9,"method":"x","content":[{"text":"\\\"id\\\":8, \\\\"}]}`
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,` + big + `}`:                   `7`,
		`{` + big + `, "jsonrpc":"2.0", "id" : "a\\\"b" }`:       `"a\\\"b"`,
		`data: {"id":7,"error":{"code":1,"message":"id"}}`:       `7`,
		`{"id":7,"method":"sampling/createMessage",` + big + `}`: ``,
		`{"method":"notifications/message","params":{"id":7}}`:   ``,
		`{"id":null,` + big + `}`:                                `null`,
		`{"id":{"a":1},` + big + `}`:                             ``,
		`{"id":` + strings.Repeat("7", 1000) + `x,` + big + `}`:  ``,
		`{"id":7`:                ``,
		`no object "id":7`:       ``,
		`}]{"id":7,` + big + `}`: `7`,
	} {
		whole, single := &outline{}, &outline{}
		whole.read([]byte(in))
		for i := range in {
			single.read([]byte{in[i]})
		}
		expect := ""
		if want != "" {
			expect = string(tooLarge([]byte(want)))
		}
		if got := string(whole.answer()); got != expect || got != string(single.answer()) {
			t.Errorf("%.80s: got %s, in pieces %s", in, got, single.answer())
		}
	}
}

// TestLines: bounded lines, whatever pieces they come in, and what is cut at the end.
func TestLines(t *testing.T) {
	in := "short\n" + strings.Repeat("x", 200_000) + `{"id":7,"result":1}` + "\n\nlast"
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
		c := newCutter(r, 100_000)
		var got []string
		for {
			line, long, err := c.line()
			if err != nil {
				break
			}
			if long != nil {
				line = append(line, long.answer()...)
			}
			got = append(got, string(line))
		}
		if want := "short\n|" + strings.Repeat("x", 16) + string(tooLarge([]byte("7"))) + "|\n|last"; strings.Join(got, "|") != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// FuzzMessages: whatever a command writes, what is handed on are whole messages, one a line, none of them too large, and those that are are all
// handed on.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nhello\n"), uint8(100))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\\\"\"}}\r\n[]\n\n{\"jsonrpc\":\"2.0\"}"), uint8(20))
	f.Add([]byte("{\"result\":[{}],\"id\":\"\\u2028\xff\"}"), uint8(5))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		most := int(limit) + 16
		m := &messages{cutter: newCutter(bytes.NewReader(in), most), junk: io.Discard}
		got, err := io.ReadAll(m)
		if err != nil && bytes.Count(in, []byte("\n")) < maxJunk {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(got) {
			n++
			if !json.Valid(line) || len(line) > most+1 && !bytes.Contains(line, []byte(tooLargeText)) {
				t.Errorf("%q isn't one of these messages", line)
			}
		}
		for line := range bytes.Lines(in) {
			if err == nil && len(line) <= most && isMessage(line) {
				n--
			}
		}
		if err == nil && n < 0 {
			t.Errorf("%d messages are lost", -n)
		}
	})
}
