package ledger_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

var update = flag.Bool("update", false, "write the golden files")

func text(s string) []artifact.Artifact { return []artifact.Artifact{artifact.Text{Content: s}} }

func turns() []ledger.Turn {
	id := ledger.ThreadID{0: 0xab, 15: 0x01}
	at := time.Date(2026, 7, 15, 12, 0, 0, 5000, time.UTC)
	return []ledger.Turn{
		{Role: ledger.RoleUser, Artifacts: text("not stamped")},
		{
			ID: ledger.TurnID{Thread: id, Seq: 1}, Role: ledger.RoleUser, Artifacts: text("hi"), Time: at,
			Provenance: "slack:T1/C1/17.01", Author: "slack:U1", Entries: []string{"T1/C1/17.01", "T1/C1/17.02"},
		},
		{
			ID: ledger.TurnID{Thread: id, Seq: 2}, Parent: 1, Role: ledger.RoleAssistant, Time: at, Draft: true,
			Artifacts: []artifact.Artifact{
				artifact.Reasoning{Content: "hm"}, artifact.Text{Content: "a"}, artifact.Text{Content: "b"},
				artifact.ToolCall{ID: "c", Name: "now"}, artifact.Usage{TotalTokens: 3}, artifact.Finish{Reason: "length"},
				artifact.Unknown{KindName: "video", Raw: json.RawMessage(`{"kind":"video","n":12345678901234567890}`)},
			},
		},
		{ID: ledger.TurnID{Thread: id, Seq: 3}, Parent: 2, Role: ledger.RoleTool, Time: at, Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: "c", Content: "noon"}}},
		{ID: ledger.TurnID{Thread: id, Seq: 9}, Parent: 3, Role: ledger.RoleSystem, Time: at, Artifacts: text("so far"), Covers: 2},
		{ID: ledger.TurnID{Thread: id, Seq: 10}, Parent: 9, Role: "critic", Time: at},
		{ID: ledger.TurnID{Thread: id, Seq: 11}, Parent: 10, Role: ledger.RoleUser, Artifacts: text("hi"), Time: at, Author: "slack:U1", Speaker: "Alice [A]"},
	}
}

func TestTurnGolden(t *testing.T) {
	var b bytes.Buffer
	for _, turn := range turns() {
		line, err := json.Marshal(turn)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	path := filepath.Join("testdata", "turns.jsonl")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the stored form changed:\n%s\nwant\n%s", b.Bytes(), want)
	}
}

func TestTurnGoldenReadsBack(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "turns.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for i, want := range turns() {
		var got ledger.Turn
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("turn %d: got %#v, want %#v", i, got, want)
		}
	}
}

// What a later version adds to a turn or to an artifact doesn't keep this one from reading it.
func TestLaterMembersAreReadOver(t *testing.T) {
	turn, err := ledger.DecodeTurn([]byte(`{"role":"user","mood":"good","art":[{"kind":"text","content":"a","lang":{"x":[1]}}],"by":"slack:U1"}`), nil)
	want := ledger.Turn{Role: ledger.RoleUser, Author: "slack:U1", Artifacts: text("a")}
	if err != nil || !reflect.DeepEqual(turn, want) {
		t.Errorf("got %#v, %v", turn, err)
	}
}

func TestTurnTimeIsStoredInUTC(t *testing.T) {
	at := time.Date(2026, 7, 15, 14, 0, 0, 0, time.FixedZone("x", 7200))
	b, err := json.Marshal(ledger.Turn{Role: ledger.RoleUser, Time: at})
	if err != nil || !strings.Contains(string(b), `"at":"2026-07-15T12:00:00Z"`) {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestDecodeTurnUsesTheRegistry(t *testing.T) {
	r := artifact.NewRegistry()
	err := r.Register("own", func(json.RawMessage) (artifact.Artifact, error) { return artifact.Text{Content: "mine"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	turn, err := ledger.DecodeTurn([]byte(`{"role":"user","art":[{"kind":"own"}]}`), r)
	if err != nil || turn.Text() != "mine" {
		t.Errorf("got %#v, %v", turn, err)
	}
}

func TestTurnErrorsNameTheTurn(t *testing.T) {
	id := ledger.TurnID{Seq: 7}
	_, err := json.Marshal(ledger.Turn{ID: id, Artifacts: []artifact.Artifact{nil}})
	if err == nil || !strings.Contains(err.Error(), id.String()) {
		t.Errorf("got %v", err)
	}
	for _, in := range []string{`[]`, `{"id":"x"}`, `{"role":"user","art":[{}]}`, `{"id":"` + id.String() + `","art":[5]}`} {
		turn := ledger.Turn{Author: "kept"}
		if err := json.Unmarshal([]byte(in), &turn); err == nil || turn.Author != "kept" {
			t.Errorf("%s: %v, %#v", in, err, turn)
		}
	}
}

func TestTurnMethods(t *testing.T) {
	call := []artifact.Artifact{artifact.Text{Content: "a"}, artifact.ToolCall{Name: "x"}}
	tests := []struct {
		name  string
		turn  ledger.Turn
		text  string
		call  bool
		final bool
	}{
		{"answer", ledger.Turn{Role: ledger.RoleAssistant, Artifacts: append(text("a"), artifact.Reasoning{Content: "r"}, artifact.Text{Content: "b"})}, "ab", false, true},
		{"call", ledger.Turn{Role: ledger.RoleAssistant, Artifacts: call}, "a", true, false},
		{"draft", ledger.Turn{Role: ledger.RoleAssistant, Draft: true, Artifacts: text("a")}, "a", false, false},
		{"user", ledger.Turn{Role: ledger.RoleUser, Artifacts: text("a")}, "a", false, false},
		{"two messages", ledger.Turn{Role: ledger.RoleUser, Artifacts: append(text("a"), text("b")...)}, "a\n\nb", false, false},
		{"nothing", ledger.Turn{}, "", false, false},
	}
	for _, tt := range tests {
		if tt.turn.Text() != tt.text || tt.turn.HasToolCall() != tt.call || tt.turn.Final() != tt.final {
			t.Errorf("%s: text %q, call %v, final %v", tt.name, tt.turn.Text(), tt.turn.HasToolCall(), tt.turn.Final())
		}
	}
	if (ledger.Turn{}).Stamped() || !(ledger.Turn{ID: ledger.TurnID{Seq: 1}}).Stamped() {
		t.Error("Stamped")
	}
}

func FuzzTurn(f *testing.F) {
	for _, turn := range turns() {
		b, err := json.Marshal(turn)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b ledger.Turn
		if json.Unmarshal(data, &a) != nil {
			return
		}
		out, err := json.Marshal(a)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if err := json.Unmarshal(out, &b); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		again, err := json.Marshal(b)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("%s became %s (%v)", out, again, err)
		}
	})
}
