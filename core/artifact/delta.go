package artifact

import "strconv"

// TextDelta is a fragment of a Text block.
type TextDelta struct {
	Content string `json:"content"`
}

// Kind returns "text_delta".
func (t TextDelta) Kind() string { return KindTextDelta }

// IsDelta marks TextDelta as a fragment.
func (t TextDelta) IsDelta() {}

// AccumulatorKey returns "text": all text between two complete artifacts is one
// block.
func (d TextDelta) AccumulatorKey() string { return KindText }

// MergeInto returns acc with the fragment at its end. Anything but a Text,
// nil included, starts a new block.
func (d TextDelta) MergeInto(acc Artifact) Artifact {
	t, _ := acc.(Text)
	return Text{Content: t.Content + d.Content}
}

// ReasoningDelta is a fragment of a Reasoning block.
type ReasoningDelta struct {
	Content string `json:"content"`
}

// Kind returns "reasoning_delta".
func (r ReasoningDelta) Kind() string { return KindReasoningDelta }

// IsDelta marks ReasoningDelta as a fragment.
func (r ReasoningDelta) IsDelta() {}

// AccumulatorKey returns "reasoning": all reasoning between two complete
// artifacts is one block.
func (d ReasoningDelta) AccumulatorKey() string { return KindReasoning }

// MergeInto returns acc with the fragment at its end. Anything but a Reasoning,
// nil included, starts a new block.
func (d ReasoningDelta) MergeInto(acc Artifact) Artifact {
	r, _ := acc.(Reasoning)
	return Reasoning{Content: r.Content + d.Content}
}

// ToolCallDelta is a fragment of a ToolCall. Index tells the calls of one turn
// apart while they stream side by side.
type ToolCallDelta struct {
	Index     int    `json:"index"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// Kind returns "tool_call_delta".
func (t ToolCallDelta) Kind() string { return KindToolCallDelta }

// IsDelta marks ToolCallDelta as a fragment.
func (t ToolCallDelta) IsDelta() {}

// AccumulatorKey returns "tool_call:" and the index.
func (d ToolCallDelta) AccumulatorKey() string {
	return KindToolCall + ":" + strconv.Itoa(d.Index)
}

// MergeInto returns acc with the fragment added: the latest ID that isn't empty
// stands, Name and Arguments are concatenated. Anything but a ToolCall, nil
// included, starts a new call.
func (d ToolCallDelta) MergeInto(acc Artifact) Artifact {
	c, _ := acc.(ToolCall)
	if d.ID != "" {
		c.ID = d.ID
	}
	c.Name += d.Name
	c.Arguments += d.Arguments
	return c
}
