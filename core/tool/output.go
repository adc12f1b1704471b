package tool

import (
	"fmt"
	"strings"
)

// Clip returns text where it has at most limit bytes, and else its first two thirds of the limit and its last third, with a line between them that
// says how much was left out. It cuts between characters. The line comes on top of the limit.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit = max(limit, 0)
	head := strings.ToValidUTF8(text[:limit*2/3], "")
	tail := strings.ToValidUTF8(text[len(text)-limit/3:], "")
	left := len(text) - len(head) - len(tail)
	return fmt.Sprintf("%s\n[… %d of %d bytes left out …]\n%s", head, left, len(text), tail)
}

// clipped cuts a short text for one line.
func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
