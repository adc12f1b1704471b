package conduit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"orebot/core/ledger"
)

// maxReasoning is how many characters of its reasoning an answer is shown with. Models think for tens of thousands, of which nobody
// reads more in a chat; the ledger keeps all.
const maxReasoning = 1000

// reasoningOf returns what of a turn's reasoning is shown with it: nothing, unless the turn says so; of a long one the beginning, and
// how long it is. It depends on the turn alone.
func reasoningOf(t ledger.Turn) string {
	if !t.ShowReasoning {
		return ""
	}
	text := t.Reasoning()
	n := utf8.RuneCountInString(text)
	if n <= maxReasoning {
		return text
	}
	return fmt.Sprintf("%s …\n(the beginning of %d characters)", beginning(text, maxReasoning), n)
}

// beginning returns at most n characters of a text, up to a blank where one is near.
func beginning(text string, n int) string {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if i := strings.LastIndexAny(text[:end], " \n\t"); i > end*9/10 {
		end = i
	}
	return strings.TrimSpace(text[:end])
}
