package artifact

// The kinds of the types in this package, as Kind returns them and as they
// stand in JSON.
const (
	KindText           = "text"
	KindTextDelta      = "text_delta"
	KindReasoning      = "reasoning"
	KindReasoningDelta = "reasoning_delta"
	KindToolCall       = "tool_call"
	KindToolCallDelta  = "tool_call_delta"
	KindToolResult     = "tool_result"
	KindImage          = "image"
	KindUsage          = "usage"
	KindFinish         = "finish"
)

// Artifact is one piece of a model's answer or of what it was given. Kind is a
// stable lower-case identifier; it routes events to subscribers and chooses the
// decoder of the JSON form.
type Artifact interface {
	Kind() string
}

// Delta marks a fragment of a stream. A Delta is shown while a turn grows and
// must never be stored.
type Delta interface {
	Artifact
	IsDelta()
}

// Accumulable is a Delta that can be merged into a complete artifact.
//
// AccumulatorKey is the same for all fragments of one block. MergeInto returns
// the block after the fragment: acc is what the block was so far, or nil for
// the first fragment. MergeInto must not change acc.
type Accumulable interface {
	Delta
	AccumulatorKey() string
	MergeInto(acc Artifact) Artifact
}

// Text is a complete block of the answer, in Markdown as the model wrote it.
type Text struct {
	Content string `json:"content"`
}

// Kind returns "text".
func (t Text) Kind() string { return KindText }

// Reasoning is a complete block of what the model thought before it answered.
type Reasoning struct {
	Content string `json:"content"`
}

// Kind returns "reasoning".
func (r Reasoning) Kind() string { return KindReasoning }

// ToolCall is a model's wish to run a tool. ID is what the result refers to;
// Arguments is the JSON object that the model wrote, unchecked.
type ToolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// Kind returns "tool_call".
func (t ToolCall) Kind() string { return KindToolCall }

// ToolResult is what running a tool gave. ToolCallID is the ID of the ToolCall
// that it answers; with IsError, Content says what went wrong.
type ToolResult struct {
	ToolCallID string `json:"tool_call_id"`
	Content    string `json:"content"`
	IsError    bool   `json:"is_error,omitempty"`
}

// Kind returns "tool_result".
func (t ToolResult) Kind() string { return KindToolResult }

// Image is a picture, by reference.
type Image struct {
	URL string `json:"url"`
}

// Kind returns "image".
func (i Image) Kind() string { return KindImage }

// Usage counts the tokens of one provider call.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// Kind returns "usage".
func (u Usage) Kind() string { return KindUsage }

// Finish says why an answer ended, where that is worth keeping: "length" when
// the model ran into its limit. It is the last artifact of its turn. (Providers
// use it under the name provider.Finish; it lives here because the codec does.)
type Finish struct {
	Reason string `json:"reason"`
}

// Kind returns "finish".
func (f Finish) Kind() string { return KindFinish }
