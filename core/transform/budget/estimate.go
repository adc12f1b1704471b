package budget

import (
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
)

// What things cost, in tokens, before any server has counted: a byte of text a third, which is on the safe side for prose in most
// scripts, a turn something beside its text, and a picture about what the usual models make of one.
const (
	BytesPerToken = 3
	TurnTokens    = 8
	ImageTokens   = 1000
)

// Estimate returns about how many tokens a turn costs in a prompt. Reasoning isn't counted: it never goes back to the model.
func Estimate(t ledger.Turn) int {
	bytes, images := 0, 0
	for _, a := range t.Artifacts {
		bytes += size(a)
		if _, ok := a.(artifact.Image); ok {
			images++
		}
	}
	return TurnTokens + bytes/BytesPerToken + images*ImageTokens
}

// EstimateAll adds up what turns cost.
func EstimateAll(turns []ledger.Turn) int {
	n := 0
	for _, t := range turns {
		n += Estimate(t)
	}
	return n
}

// EstimateTools returns about how many tokens the descriptions of tools cost, which the server puts into the prompt.
func EstimateTools(tools []provider.Tool) int {
	n := 0
	for _, t := range tools {
		n += TurnTokens + (len(t.Name)+len(t.Description)+len(t.Parameters))/BytesPerToken
	}
	return n
}

func size(a artifact.Artifact) int {
	switch a := a.(type) {
	case artifact.Text:
		return len(a.Content)
	case artifact.ToolCall:
		return len(a.Name) + len(a.Arguments)
	case artifact.ToolResult:
		return len(a.Content)
	default:
		return 0
	}
}
