package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// level says how good a place for a cut is.
type level uint8

const (
	atForce    level = iota // within a link's label, inline code or a long grapheme
	atGrapheme              // between graphemes
	atWord
	atSentence
	atLine
	atItem
	atBlock
)

// cut is a place where a part may end.
type cut struct {
	off   int // in the source
	n     int // runes of the part's text
	level level
}

// cutter collects the places where a part may end.
type cutter struct {
	cuts []cut
	n    int
	max  int
}

// cutsIn returns the places within blocks, in order, up to most runes. The start
// of the first block is none of them.
func cutsIn(blocks []Block, most int) []cut {
	c := &cutter{max: most, cuts: make([]cut, 0, min(most, 4096))}
	for i := range blocks {
		b := &blocks[i]
		if i > 0 {
			c.put(b.start, levelBetween(&blocks[i-1], b))
		}
		if b.Grid != nil {
			c.grid(b)
		} else {
			c.runs(b.Runs, b.Kind == CodeBlock)
		}
		if c.full() {
			break
		}
	}
	return c.cuts
}

func (c *cutter) put(off int, l level) {
	if !c.full() {
		c.cuts = append(c.cuts, cut{off, c.n, l})
	}
}

// full says that places further on are of no use: there is one, and a part that
// ends later is too long.
func (c *cutter) full() bool { return c.n > c.max && len(c.cuts) > 0 }

// levelBetween rates the place between two blocks. A heading belongs to what
// follows it, and so does a line that announces it with a colon.
func levelBetween(a, b *Block) level {
	switch {
	case a.Kind == Heading:
		return atWord
	case a.Kind == Paragraph && len(a.Runs) > 0 && strings.HasSuffix(a.Runs[len(a.Runs)-1].Text, ":"):
		return atSentence
	case len(a.In) == 0 || len(b.In) == 0 || a.In[0].ID != b.In[0].ID && (a.In[0].Quote || b.In[0].Quote):
		return atBlock
	case b.In[len(b.In)-1].First:
		return atItem
	}
	return atLine
}

// grid adds the places in a table: between rows, and within one if need be. A
// header is never cut.
func (c *cutter) grid(b *Block) {
	first := true
	if !b.Cont {
		for _, h := range b.Grid.Header {
			c.n += utf8.RuneCountInString(cellText(h))
			first = first && len(h) == 0
		}
	}
	for _, row := range b.Grid.Rows {
		if c.full() {
			return
		}
		l := atLine
		for _, cell := range row.Cells[row.From:] {
			if len(cell) == 0 {
				continue
			}
			if !first {
				c.put(cell[0].Source, l)
			}
			c.runs(cell, false)
			l, first = atWord, false
		}
	}
}

// runs adds the places within one text.
func (c *cutter) runs(runs []Run, code bool) {
	runs = head(runs, c.max-c.n)
	text := cellText(runs)
	w := walk{runs: runs, code: code}
	for i := 0; i < len(text) && !c.full(); {
		if i > 0 {
			if off, l := w.place(text, i); off >= 0 {
				c.put(off, l)
			}
		}
		j := i + clusterLen(text[i:])
		if j-i > 64 {
			c.force(text, i, j, &w)
		}
		c.n += utf8.RuneCountInString(text[i:j])
		i = j
	}
}

// head returns the runs that hold the first so many runes, and some more.
func head(runs []Run, runes int) []Run {
	bytes := utf8.UTFMax*max(runes, 0) + 1000
	for i, r := range runs {
		if bytes -= len(r.Text); bytes < 0 {
			return runs[:i+1]
		}
	}
	return runs
}

// force adds the places within a grapheme too long to be one.
func (c *cutter) force(text string, i, j int, w *walk) {
	n := c.n
	for k := i; k < j; c.n++ {
		if k > i {
			if off, _ := w.place(text, k); off >= 0 {
				c.put(off, atForce)
			}
		}
		_, size := utf8.DecodeRuneInString(text[k:])
		k += size
	}
	c.n = n
}

// clusterLen returns the length of the grapheme that s starts with.
func clusterLen(s string) int {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80 && (s[0] != '\r' || s[1] != '\n')) {
		return 1
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// walk finds, for growing places in a text, the places in the source.
type walk struct {
	runs  []Run
	code  bool
	run   int // the run that the last place was in
	start int // where its text starts
}

// place returns the source offset of byte i of the text and how good it is, or
// -1 where the source has no such place.
func (w *walk) place(text string, i int) (int, level) {
	for i >= w.start+len(w.runs[w.run].Text) {
		w.start += len(w.runs[w.run].Text)
		w.run++
	}
	r := &w.runs[w.run]
	inside := i > w.start
	if inside && !r.Literal {
		return -1, 0
	}
	return r.Source + i - w.start, w.rate(text, i, inside)
}

// rate says how good byte i of the text is as the start of a part.
func (w *walk) rate(text string, i int, inside bool) level {
	r := &w.runs[w.run]
	if inside && (r.Style&Code != 0 || r.Link != "") {
		return atForce
	}
	if !inside && w.run > 0 {
		if p := &w.runs[w.run-1]; p.Link != "" && p.Link == r.Link || p.Style&r.Style&Code != 0 {
			return atForce
		}
	}
	return rateText(text, i, w.code)
}

// rateText rates a place in plain text or, where indentation counts, in code.
func rateText(text string, i int, code bool) level {
	prev, next := text[i-1], text[i]
	switch {
	case next == '\n', !code && (next == ' ' || next == '\t'):
		return atForce
	case prev == '\n':
		return atLine
	case prev == ' ' || prev == '\t':
		if !code && endsSentence(strings.TrimRight(text[max(0, i-8):i], " \t")) {
			return atSentence
		}
		return atWord
	case prev >= 0x80 && wideStop(text[:i]):
		return atSentence
	}
	return atGrapheme
}

func endsSentence(s string) bool {
	s = strings.TrimRight(s, `"')]*_`)
	return s != "" && strings.IndexByte(".!?;:", s[len(s)-1]) >= 0 || wideStop(s)
}

// wideStop says whether s ends a sentence of a script without spaces.
func wideStop(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune("。！？；…", r)
}
