package artifact_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orebot/core/artifact"
)

var update = flag.Bool("update", false, "write the golden files")

func samples() []artifact.Artifact {
	return []artifact.Artifact{
		artifact.Text{Content: "a < b & \"c\"\n\u2028é"},
		artifact.Text{},
		artifact.TextDelta{Content: "a"},
		artifact.Reasoning{Content: "hm"},
		artifact.ReasoningDelta{Content: "h"},
		artifact.ToolCall{ID: "1", Name: "search", Arguments: `{"q":"x"}`},
		artifact.ToolCall{Name: "now"},
		artifact.ToolCallDelta{Index: 1, ID: "1", Name: "se", Arguments: `{"`},
		artifact.ToolResult{ToolCallID: "1", Content: "found"},
		artifact.ToolResult{ToolCallID: "2", Content: "boom", IsError: true},
		artifact.Image{URL: "blob:sha256/ab"},
		artifact.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15},
		artifact.Finish{Reason: "length"},
		artifact.Unknown{KindName: "video", Raw: json.RawMessage(`{"kind":"video","n":12345678901234567890,"z":[ 1,2 ],"html":"<b>"}`)},
	}
}

func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, a := range samples() {
		line, err := artifact.Marshal(a)
		if err != nil {
			t.Fatalf("%#v: %v", a, err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	path := filepath.Join("testdata", "artifacts.jsonl")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the stored form changed:\n%s\nwant\n%s", b.String(), want)
	}
}

func TestGoldenReadsBack(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "artifacts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	want := samples()
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		got, err := artifact.Unmarshal([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got %#v, want %#v", got, want[i])
		}
	}
}

// A member that this program doesn't know is no obstacle and makes two equal artifacts no less equal; a kind that it doesn't know
// keeps all of its members. So what must survive an older program comes as a kind.
func TestLaterMembersAndLaterKinds(t *testing.T) {
	a, err := artifact.Unmarshal([]byte(`{"kind":"text","content":"a","lang":{"x":[1]}}`))
	if err != nil || a != artifact.Artifact(artifact.Text{Content: "a"}) {
		t.Errorf("got %#v, %v", a, err)
	}
	const later = `{"kind":"text_in","lang":{"x":[1]},"content":"a"}`
	a, err = artifact.Unmarshal([]byte(later))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := artifact.Marshal(a); err != nil || string(b) != later {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestJSONInsideOtherValues(t *testing.T) {
	b, err := json.Marshal(map[string]any{"a": artifact.Text{Content: "x"}, "b": &artifact.Image{URL: "u"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":{"kind":"text","content":"x"},"b":{"kind":"image","url":"u"}}`; string(b) != want {
		t.Errorf("got %s, want %s", b, want)
	}
}

func TestUnmarshalRejects(t *testing.T) {
	for _, in := range []string{
		``, `null`, `[]`, `"text"`, `{}`, `{"kind":""}`, `{"kind":5}`, `{"kind":"text","content":5}`,
		`{"kind":"usage","prompt_tokens":"x"}`, `{"kind":"text"`, `{"kind":"video"} x`,
	} {
		if a, err := artifact.Unmarshal([]byte(in)); err == nil {
			t.Errorf("%s: got %#v, want an error", in, a)
		}
	}
}

func TestUnmarshalDoesNotKeepTheInput(t *testing.T) {
	in := []byte(`{"kind":"video","n":1}`)
	a, err := artifact.Unmarshal(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if got := string(a.(artifact.Unknown).Raw); got != `{"kind":"video","n":1}` {
		t.Errorf("got %q", got)
	}
}

type (
	bare   struct{ A int }
	liar   struct{}
	scalar string
	empty  struct{}
)

func (bare) Kind() string                 { return "bare" }
func (liar) Kind() string                 { return "liar" }
func (liar) MarshalJSON() ([]byte, error) { return []byte(`{"kind":"text"}`), nil }
func (scalar) Kind() string               { return "scalar" }
func (empty) Kind() string                { return "" }

func TestMarshalForeign(t *testing.T) {
	b, err := artifact.Marshal(bare{A: 1})
	if err != nil || string(b) != `{"kind":"bare","A":1}` {
		t.Errorf("got %s, %v", b, err)
	}
	b, err = artifact.Marshal(artifact.Unknown{KindName: "video"})
	if err != nil || string(b) != `{"kind":"video"}` {
		t.Errorf("got %s, %v", b, err)
	}
	for _, a := range []artifact.Artifact{
		nil, liar{}, scalar("x"), empty{}, (*artifact.Text)(nil), artifact.Unknown{},
		artifact.Unknown{KindName: "video", Raw: json.RawMessage(`{"kind":"audio"}`)},
		artifact.Unknown{KindName: "video", Raw: json.RawMessage(`7`)},
	} {
		if b, err := artifact.Marshal(a); err == nil {
			t.Errorf("%#v: got %s, want an error", a, b)
		}
	}
}

func TestRegistry(t *testing.T) {
	decode := func(raw json.RawMessage) (artifact.Artifact, error) {
		var b bare
		err := json.Unmarshal(raw, &b)
		return b, err
	}
	r := artifact.NewRegistry()
	if err := r.Register("bare", decode); err != nil {
		t.Fatal(err)
	}
	a, err := r.Unmarshal([]byte(`{"kind":"bare","A":7}`))
	if err != nil || a != (bare{A: 7}) {
		t.Errorf("got %#v, %v", a, err)
	}
	if a, _ := r.Unmarshal([]byte(`{"kind":"text","content":"x"}`)); a != (artifact.Text{Content: "x"}) {
		t.Errorf("got %#v", a)
	}
	for _, kind := range []string{"", "bare", "text"} {
		if err := r.Register(kind, decode); err == nil {
			t.Errorf("kind %q was registered", kind)
		}
	}
	if a, _ := artifact.NewRegistry().Unmarshal([]byte(`{"kind":"bare"}`)); a.(artifact.Unknown).KindName != "bare" {
		t.Error("registries share their kinds")
	}
}

func TestCleanIsWhatComesBack(t *testing.T) {
	const bad = "a\xff\xfe\xc3(é\xe2\x82"
	for _, a := range []artifact.Artifact{
		artifact.Text{Content: bad}, artifact.Reasoning{Content: bad},
		artifact.ToolCall{ID: bad, Name: bad, Arguments: bad},
		artifact.ToolResult{ToolCallID: bad, Content: bad, IsError: true},
		artifact.Image{URL: bad}, artifact.Finish{Reason: bad},
		artifact.Usage{TotalTokens: 1}, artifact.Text{Content: "fine ✓"},
		artifact.TextDelta{Content: "a"}, artifact.ReasoningDelta{Content: "a"}, artifact.ToolCallDelta{Index: 1},
	} {
		b, err := artifact.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		back, err := artifact.Unmarshal(b)
		if err != nil {
			t.Fatal(err)
		}
		pointer := reflect.New(reflect.TypeOf(a))
		pointer.Elem().Set(reflect.ValueOf(a))
		if got := artifact.Clean(pointer.Interface().(artifact.Artifact)); got != back {
			t.Errorf("Clean of a pointer gives %#v", got)
		}
		if got := artifact.Clean(reflect.Zero(pointer.Type()).Interface().(artifact.Artifact)); got != nil {
			t.Errorf("Clean of no %T gives %#v", a, got)
		}
		if got := artifact.Clean(a); got != back {
			t.Errorf("Clean gives %#v, the codec %#v", got, back)
		}
		if again := artifact.Clean(back); again != back {
			t.Errorf("%#v isn't clean", back)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, a := range samples() {
		b, err := artifact.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"Kind":"text","kind":"video"}`))
	f.Add([]byte(" {\"kind\":\"text\",\"content\":\"\\ud800\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := artifact.Unmarshal(data)
		if err != nil {
			return
		}
		b, err := artifact.Marshal(a)
		if err != nil {
			t.Fatalf("%s: read %#v, can't write it: %v", data, a, err)
		}
		if u, ok := a.(artifact.Unknown); ok && string(b) != string(data) {
			t.Fatalf("unknown %q: %s became %s", u.KindName, data, b)
		}
		again, err := artifact.Unmarshal(b)
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Fatalf("%s: %#v became %#v (%v)", data, a, again, err)
		}
	})
}

func FuzzTextRoundTrip(f *testing.F) {
	f.Add("plain")
	f.Add("\xff<&>\u2028\x00")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := artifact.Marshal(artifact.Text{Content: s})
		if err != nil {
			t.Fatal(err)
		}
		back, err := artifact.Unmarshal(b)
		if err != nil || back != artifact.Clean(artifact.Text{Content: s}) {
			t.Fatalf("%q became %#v (%v)", s, back, err)
		}
	})
}
