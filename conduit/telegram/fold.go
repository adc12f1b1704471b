package telegram

import (
	"strings"

	"orebot/conduit"
)

// foldHead is the first line of what is shown folded.
const foldHead = "💭 Reasoning\n"

// foldOf is what the model thought before an answer, as it is read above it, with the line's end; empty where nothing of it is shown.
// It is plain text: nothing in it is markup, and no name in it pings. Where there is no markup nothing can be folded, and where
// Telegram found the part too big, the answer has the room.
func foldOf(it conduit.Item, how conduit.Shape) string {
	text := strings.TrimSpace(cleanText(it.Reasoning))
	if text == "" || how.Plain || how.Shrink > 0 {
		return ""
	}
	return inert(foldHead+text) + "\n"
}

// foldedHTML shows it as a quote that Telegram shows three lines of until it is touched.
func foldedHTML(fold string) string {
	if fold == "" {
		return ""
	}
	return "<blockquote expandable>" + escapeText(strings.TrimSuffix(fold, "\n")) + "</blockquote>\n"
}

// messagesOf is how many messages of an item are posted before the rest is a file. The reasoning takes room of the first; where there is
// some, the answer may have one more, so that no answer becomes a file because the model thought.
func (r Renderer) messagesOf(it conduit.Item) int {
	if it.Reasoning != "" {
		return r.maxParts + 1
	}
	return r.maxParts
}
