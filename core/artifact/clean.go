package artifact

import "unicode/utf8"

// Clean returns a as it would come back from its JSON form: every byte that isn't
// part of valid UTF-8 is U+FFFD, and a pointer to a type of this package is its
// value, or nil. Fragments keep their bytes, since a character may be cut between
// two of them. Artifacts of other packages come back as they are.
func Clean(a Artifact) Artifact {
	switch v := plain(a).(type) {
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
	default:
		return v
	}
}

// plain turns a pointer to a type of this package into its value, so that a type
// switch needs to know one form. A nil pointer becomes nil.
func plain(a Artifact) Artifact {
	switch p := a.(type) {
	case *Text:
		return value(p)
	case *TextDelta:
		return value(p)
	case *Reasoning:
		return value(p)
	case *ReasoningDelta:
		return value(p)
	case *ToolCall:
		return value(p)
	case *ToolCallDelta:
		return value(p)
	case *ToolResult:
		return value(p)
	case *Image:
		return value(p)
	case *Usage:
		return value(p)
	case *Finish:
		return value(p)
	case *Unknown:
		return value(p)
	}
	return a
}

func value[T Artifact](p *T) Artifact {
	if p == nil {
		return nil
	}
	return *p
}

func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
