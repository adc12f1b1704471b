package ollama

import (
	"fmt"
	"strings"
	"testing"
)

// guard says a text in pieces of n bytes and returns what came out, and after how many bytes it was over; 0: never.
func guard(text string, n int) (out string, over int) {
	var g repeatGuard
	for said := 0; said < len(text); {
		piece := text[said:min(len(text), said+n)]
		said += len(piece)
		o, end := g.add(piece)
		if out += o; end {
			return out, said
		}
	}
	return out + g.release(), 0
}

func TestRepeatGuard(t *testing.T) {
	prose := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "Sentence %d says something of its own, about %d. ", i, i*i)
		}
		return b.String()
	}
	intro := prose(500)
	tests := []struct {
		name, text string
		over       bool
		keep       int // so much of a text that is over stays at least, and no more than one unit and a look beyond
	}{
		{"prose", prose(20_000), false, 0},
		{"one letter", strings.Repeat("a", 10_000), true, 0},
		{"one word behind an answer", intro + strings.Repeat("again ", 2000), true, len(intro)},
		{"a paragraph", intro + strings.Repeat(prose(700), 20), true, len(intro)},
		{"a rule and zeros", intro + strings.Repeat("-", 1500) + "\n" + strings.Repeat("0x00, ", 300) + "};\n", false, 0},
		{"a table", "| a | b |\n" + strings.Repeat("| --- | --- |\n", 30) + prose(3000), false, 0},
		{"the same thrice", intro + intro + intro, false, 0},
		{"counting", strings.Join(strings.Split(fmt.Sprint(make([]int, 900)), " "), " "), false, 0},
		{"letters", intro + strings.Repeat("你好。", 800), true, len(intro)},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 5, 777} {
			out, over := guard(tt.text, n)
			switch {
			case (over > 0) != tt.over:
				t.Errorf("%s by %d: over after %d bytes", tt.name, n, over)
			case !tt.over && out != tt.text:
				t.Errorf("%s by %d: %d of %d bytes came out", tt.name, n, len(out), len(tt.text))
			case tt.over && (!strings.HasPrefix(tt.text, out) || len(out) < tt.keep || len(out) > tt.keep+3*700+800):
				t.Errorf("%s by %d: %d bytes came out, want about %d", tt.name, n, len(out), tt.keep)
			}
		}
	}
}

func FuzzRepeatGuard(f *testing.F) {
	f.Add("Well: ", "again ", uint16(600), uint8(3))
	f.Add("", "é", uint16(3000), uint8(1))
	f.Add("aab", strings.Repeat("aab", 66)+"a", uint16(90), uint8(0))
	f.Add(strings.Repeat("a", 299), "a\xff\x00", uint16(2000), uint8(255))
	f.Fuzz(func(t *testing.T, head, unit string, times uint16, n uint8) {
		unit = unit[:min(len(unit), 2*doubtBytes/3)] // a longer one may hold what looks like a loop of its own, and then stops being one
		text := head + strings.Repeat(unit, int(times)%4000)
		out, over := guard(text, int(n)+1)
		if over == 0 && out != text || !strings.HasPrefix(text, out) {
			t.Errorf("%d of %d bytes came out, over after %d", len(out), len(text), over)
		}
		if long := len(text) - len(head); over == 0 && long > loopBytes+len(unit)*(loopTimes+1)+2*lookEvery+2*256 {
			t.Errorf("%d bytes of %q were no end", long, unit)
		}
	})
}
