package artifact_test

import (
	"testing"

	"orebot/core/artifact"
)

// The names and signatures that the seed document owes. It fails to compile
// where one is missing or differs.
var (
	_ artifact.Artifact    = artifact.Text{Content: ""}
	_ artifact.Artifact    = artifact.Reasoning{Content: ""}
	_ artifact.Artifact    = artifact.ToolCall{ID: "", Name: "", Arguments: ""}
	_ artifact.Artifact    = artifact.ToolResult{ToolCallID: "", Content: "", IsError: false}
	_ artifact.Artifact    = artifact.Image{URL: ""}
	_ artifact.Artifact    = artifact.Usage{PromptTokens: 0, CompletionTokens: 0, TotalTokens: 0}
	_ artifact.Accumulable = artifact.TextDelta{Content: ""}
	_ artifact.Accumulable = artifact.ReasoningDelta{Content: ""}
	_ artifact.Accumulable = artifact.ToolCallDelta{Index: 0, ID: "", Name: "", Arguments: ""}
	_ artifact.Delta       = artifact.Accumulable(nil)
	_ artifact.Artifact    = artifact.Delta(nil)
	_ artifact.Delta       = own{}
)

// own is a type as another package would bring it.
type own struct{ N int }

func (own) Kind() string { return "own" }
func (own) IsDelta()     {}

func TestKinds(t *testing.T) {
	for kind, a := range map[string]artifact.Artifact{
		"text": artifact.Text{}, "text_delta": artifact.TextDelta{},
		"reasoning": artifact.Reasoning{}, "reasoning_delta": artifact.ReasoningDelta{},
		"tool_call": artifact.ToolCall{}, "tool_call_delta": artifact.ToolCallDelta{},
		"tool_result": artifact.ToolResult{}, "image": artifact.Image{}, "usage": artifact.Usage{},
		"finish": artifact.Finish{}, "odd": artifact.Unknown{KindName: "odd"},
	} {
		if a.Kind() != kind {
			t.Errorf("%T: kind %q, want %q", a, a.Kind(), kind)
		}
	}
}

func TestOnlyFragmentsAreDeltas(t *testing.T) {
	for _, a := range []artifact.Artifact{
		artifact.Text{}, artifact.Reasoning{}, artifact.ToolCall{}, artifact.ToolResult{},
		artifact.Image{}, artifact.Usage{}, artifact.Finish{}, artifact.Unknown{},
	} {
		if _, ok := a.(artifact.Delta); ok {
			t.Errorf("%T is a Delta", a)
		}
	}
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name   string
		deltas []artifact.Accumulable
		start  artifact.Artifact
		key    string
		want   artifact.Artifact
	}{
		{"text seeds", []artifact.Accumulable{artifact.TextDelta{"a"}}, nil, "text", artifact.Text{"a"}},
		{"text grows", []artifact.Accumulable{artifact.TextDelta{"b"}, artifact.TextDelta{"c"}}, artifact.Text{"a"}, "text", artifact.Text{"abc"}},
		{"text over a stranger", []artifact.Accumulable{artifact.TextDelta{"a"}}, artifact.Image{"u"}, "text", artifact.Text{"a"}},
		{"reasoning seeds", []artifact.Accumulable{artifact.ReasoningDelta{"a"}}, nil, "reasoning", artifact.Reasoning{"a"}},
		{"reasoning grows", []artifact.Accumulable{artifact.ReasoningDelta{"b"}}, artifact.Reasoning{"a"}, "reasoning", artifact.Reasoning{"ab"}},
		{"call: latest id, the rest grows", []artifact.Accumulable{
			artifact.ToolCallDelta{Index: 2, ID: "x", Name: "se", Arguments: `{"q"`},
			artifact.ToolCallDelta{Index: 2, Name: "arch", Arguments: `:1}`},
			artifact.ToolCallDelta{Index: 2, ID: "y"},
		}, nil, "tool_call:2", artifact.ToolCall{ID: "y", Name: "search", Arguments: `{"q":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			acc := tt.start
			for _, d := range tt.deltas {
				if d.AccumulatorKey() != tt.key {
					t.Errorf("key %q, want %q", d.AccumulatorKey(), tt.key)
				}
				acc = d.MergeInto(acc)
			}
			if acc != tt.want {
				t.Errorf("got %#v, want %#v", acc, tt.want)
			}
		})
	}
}
