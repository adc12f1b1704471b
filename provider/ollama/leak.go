package ollama

import (
	"encoding/json"
	"errors"
	"strings"

	"orebot/core/artifact"
	"orebot/core/provider"
)

// callMarks begin a tool call as models write it. Where tools are offered the server reads them; where none are, they come as text.
var callMarks = []string{"<tool_call", "<|tool_call", "<function", "<|python_tag|>", "[TOOL_CALLS]", "<｜tool▁call"}

// pressed reports whether a request has a model go on behind the results of tools without offering it any: then it may write a call that
// nobody reads, instead of an answer.
func pressed(req chatRequest) bool {
	last := len(req.Messages) - 1
	return last >= 0 && req.Messages[last].Role == "tool" && len(req.Tools) == 0
}

// isCall reports whether an answer is nothing but a tool call in a model's own writing.
func isCall(answer string) bool {
	answer = strings.TrimSpace(answer)
	for _, mark := range callMarks {
		if strings.HasPrefix(answer, mark) {
			return true
		}
	}
	var call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	return json.Unmarshal([]byte(answer), &call) == nil && call.Name != "" && (call.Arguments != nil || call.Parameters != nil)
}

// text sends a piece of text; of an answer that may turn out to be a tool call it is held until its end.
func (s *stream) text(piece string) error {
	if s.pressed {
		s.held.WriteString(piece)
		return nil
	}
	return s.send(artifact.TextDelta{Content: piece})
}

// letGo sends what was held, unless it is a tool call, which is no answer.
func (s *stream) letGo() error {
	switch held := s.held.String(); {
	case held == "":
		return nil
	case isCall(held):
		return &failure{provider.KindEmpty, errors.New("the answer is the call of a tool, of which none was offered")}
	default:
		return s.send(artifact.TextDelta{Content: held})
	}
}
