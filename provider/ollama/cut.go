package ollama

import "github.com/ollama/ollama/api"

const (
	denseBytes   = 8    // no usual text has more bytes to a token
	sparseBytes  = 4096 // shorter prompts aren't judged by their bytes
	learnWeight  = 0.2  // of each new answer in what is known of a model's bytes to a token
	believedCut  = 0.75 // less than so much of the expected tokens isn't chance
	nearlyFilled = 0.9  // so much of the window has a prompt to fill before a server may have cut it in half
)

// reading is what a server says that it has read of a prompt.
type reading struct {
	bytes  int // of the messages' text
	tokens int // the server's count; 0: it doesn't say
	window int // num_ctx of the call; 0: the server's own
}

// cut reports whether the server has left out a part of the prompt, without saying so; perToken is how many bytes of this model's
// prompts make a token, 0 if that isn't known. Old servers cut to the whole window, newer ones to half of it, and one that was set up
// with a small window to that.
func (r reading) cut(perToken float64) bool {
	switch {
	case r.tokens == 0:
		return false
	case r.window > 0 && r.tokens >= r.window:
		return true
	case r.bytes >= sparseBytes && r.tokens*denseBytes < r.bytes:
		return true
	}
	expected := float64(r.bytes) / max(perToken, 1)
	return perToken > 0 && expected > nearlyFilled*float64(r.window) && float64(r.tokens) < believedCut*expected
}

// learned returns perToken as this reading changes it.
func (r reading) learned(perToken float64) float64 {
	if r.tokens == 0 || r.bytes == 0 {
		return perToken
	}
	now := float64(r.bytes) / float64(r.tokens)
	if perToken == 0 {
		return now
	}
	return perToken + learnWeight*(now-perToken)
}

// readingOf sets a request against the count in its answer.
func readingOf(req chatRequest, tokens int) reading {
	r := reading{tokens: tokens}
	r.window, _ = req.Options["num_ctx"].(int)
	for _, m := range req.Messages {
		r.bytes += textSize(m)
	}
	return r
}

func textSize(m api.Message) int {
	n := len(m.Content)
	for _, c := range m.ToolCalls {
		n += len(c.Function.Name) + len(c.Function.Arguments.String())
	}
	return n
}
