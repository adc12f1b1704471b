package artifact

import "unicode/utf8"

// Clean returns a with every byte that isn't part of valid UTF-8 replaced by
// U+FFFD, exactly as its JSON form would have it. Artifacts that need no change
// and those of other packages come back as they are.
func Clean(a Artifact) Artifact {
	switch v := a.(type) {
	case Text:
		return Text{Content: clean(v.Content)}
	case Reasoning:
		return Reasoning{Content: clean(v.Content)}
	case ToolCall:
		return ToolCall{ID: clean(v.ID), Name: clean(v.Name), Arguments: clean(v.Arguments)}
	case ToolResult:
		return ToolResult{ToolCallID: clean(v.ToolCallID), Content: clean(v.Content), IsError: v.IsError}
	case Image:
		return Image{URL: clean(v.URL)}
	case Finish:
		return Finish{Reason: clean(v.Reason)}
	}
	return a
}

func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
