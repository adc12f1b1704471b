package ollama

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func split(native bool, pieces ...string) (reasoning, text string) {
	s := thinkSplitter{native: native}
	for _, p := range pieces {
		r, t := s.add(p)
		reasoning, text = reasoning+r, text+t
	}
	r, t := s.end()
	return reasoning + r, text + t
}

func TestThinkSplitter(t *testing.T) {
	tests := []struct{ in, reasoning, text string }{
		{"plain", "", "plain"},
		{"<think>a</think>b", "a", "b"},
		{"\n <think>\na\n</think>\n\nb \n", "\na\n", "b \n"},
		{"<think></think>b", "", "b"},
		{"<think>never closed</thi", "never closed</thi", ""},
		{"</think>\nb", "", "b"},
		{"b <think>c</think>", "", "b <think>c</think>"},
		{"<think>a</think>b<think>c</think>", "a", "b<think>c</think>"},
		{"```\n<think>a</think>\n```", "", "```\n<think>a</think>\n```"},
		{"`<think>` opens it", "", "`<think>` opens it"},
		{"<thinking>a", "", "<thinking>a"},
		{"<thin", "", "<thin"},
		{"  indented", "", "  indented"},
		{" \n\t", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if r, x := split(false, tt.in); r != tt.reasoning || x != tt.text {
			t.Errorf("%q: %q %q, want %q %q", tt.in, r, x, tt.reasoning, tt.text)
		}
		if r, x := split(false, strings.Split(tt.in, "")...); r != tt.reasoning || x != tt.text {
			t.Errorf("%q by letters: %q %q, want %q %q", tt.in, r, x, tt.reasoning, tt.text)
		}
	}
	if r, x := split(true, "<think>a</think>"); r != "" || x != "<think>a</think>" {
		t.Errorf("a server that splits itself: %q %q", r, x)
	}
	if r, x := split(true, "</think>\n\nb"); r != "" || x != "b" {
		t.Errorf("a stray end tag: %q %q", r, x)
	}
}

func FuzzThinkSplitter(f *testing.F) {
	for _, s := range []string{"<think>a</think>b", " <th", "</think>", "a<think>", "<think>é</thi</think>\n\nü"} {
		f.Add(s, uint8(1), false)
		f.Add(s, uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, s string, n uint8, native bool) {
		r, x := split(native, s)
		var pieces []string
		for rest := s; rest != ""; {
			k := min(int(n)+1, len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		if r2, x2 := split(native, pieces...); r2 != r || x2 != x {
			t.Errorf("%q: whole %q %q, in pieces %q %q", s, r, x, r2, x2)
		}
		if !strings.HasSuffix(s, x) || !strings.Contains(s, r) {
			t.Errorf("%q: made up %q %q", s, r, x)
		}
		if lost := len(s) - len(r) - len(x); lost > 0 && strings.TrimSpace(x) != "" && !strings.Contains(s[:len(s)-len(x)], thinkClose) {
			t.Errorf("%q: lost %d bytes", s, lost)
		}
	})
}

func readLines(r io.Reader, limit int) ([]string, error) {
	l := newLineReader(r, limit)
	var out []string
	for {
		line, err := l.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(line))
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	tests := []struct {
		in   string
		want string
		err  error
	}{
		{"", "", io.EOF},
		{"a\n\n \r\nb", "a|b", io.EOF},
		{"a\n" + long + "\nb\n", "a|" + long + "|b", io.EOF},
		{"a\n" + long + long + "x\nb\n", "a", errLineTooLong},
		{long + long, long + long, io.EOF},
	}
	for i, tt := range tests {
		got, err := readLines(strings.NewReader(tt.in), 20_000)
		if strings.Join(got, "|") != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%d: %d lines, %v", i, len(got), err)
		}
	}
	_, err := readLines(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(io.ErrUnexpectedEOF)), 100)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut line: %v", err)
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), uint16(10))
	f.Add(bytes.Repeat([]byte("x"), 9000), uint16(8192))
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		max := int(limit) + 1
		got, err := readLines(iotest.OneByteReader(bytes.NewReader(in)), max)
		var want []string
		for line := range bytes.Lines(in) {
			if len(line) > max {
				if !errors.Is(err, errLineTooLong) {
					t.Errorf("a line of %d bytes passed a limit of %d: %v", len(line), max, err)
				}
				break
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				want = append(want, string(line))
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
