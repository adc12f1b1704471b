package ollama

import "time"

// End is how a stream comes to its end.
type End int

const (
	Done End = iota // a last line with done:true
	EOF             // the body ends cleanly without one, as when a model repeats itself or a proxy gives up
	Cut             // the connection is dropped
	Fail            // a line {"error": …}; status 500 if nothing was sent before it
)

// Reply is what the model says to one chat. The zero Reply is an empty answer.
type Reply struct {
	Thinking  []string // one line each, before the content, when the request lets the model think
	Leak      bool     // thinks even if told not to: the thinking comes as <think>…</think> in the content
	Open      bool     // never closes its <think>
	Chunks    []string // the content, one token and one line each
	Endless   bool     // repeats Chunks until num_predict, the context's end or the client stops it
	ToolCalls []ToolCall

	Load    time.Duration // loads the model anew for this long: silence, no headers
	Headers bool          // sends the headers before Delay, as newer servers do
	Delay   time.Duration // before the first line: a long prompt
	Between time.Duration // between lines

	End   End
	After int    // lines before an End other than Done; those beyond it are not sent
	Error string // of Fail; empty is the runner's own crash

	DoneReason string // empty: "stop", or "length" when num_predict or the context ended it
	Prompt     int    // prompt_eval_count; zero: as counted, negative: missing
	Eval       int    // eval_count; likewise

	Raw *Raw // all of the answer instead, byte for byte
}

// ToolCall is a call the model makes. Arguments is a JSON object.
type ToolCall struct {
	ID, Name, Arguments string
}

// Raw is an answer that isn't Ollama's: a proxy's page, an empty body, a line of nine megabytes.
type Raw struct {
	Status int
	Type   string // Content-Type; empty is application/x-ndjson
	Body   string
}

// Say returns the plain answer that consists of the given chunks.
func Say(chunks ...string) Reply { return Reply{Chunks: chunks} }

const crash = "an error was encountered while running the model: unexpected EOF"
