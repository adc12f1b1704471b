package markup

import (
	"sort"
	"unicode/utf8"
)

// Orphan is the length, in runes of text, below which a part is an orphan: one
// is avoided wherever there is another place to cut.
const Orphan = 200

// Limit is what a platform takes in one message.
type Limit struct {
	// Max is the most runes of text that one part may hold. It keeps the search
	// for a place to cut near the place; Fits has the last word.
	Max int
	// Load says how full a message of these blocks is, as a share of the platform's
	// limits: up to 1 it fits. It must be a pure function, and growing with the
	// blocks, or nearly so; a cut is only ever made where Load says that it fits,
	// unless nothing does.
	Load func(blocks []Block) float64
}

// Part is one message's share of a document.
type Part struct {
	From   int     // the offset that was asked for
	Next   int     // where the next part starts; at least len(Source): there is none
	Blocks []Block // empty: nothing is left to show
}

// Next returns the part that starts at a source offset: 0, or one that an
// earlier part ended with. Any other offset works too: it is taken back to the
// start of what it falls into, so that nothing is lost when another layout cut
// elsewhere. Next is always greater than offset, even where a single character
// doesn't fit, and parts that would show nothing are passed over.
//
// Of the places where the part fits, the best one in its second half is taken:
// between blocks, then list items, lines, sentences, words, graphemes.
func (d *Document) Next(offset int, l Limit) Part {
	for at := runeStart(d.Source, max(offset, 0)); at < d.visible; {
		next := d.end(at, d.window(at, l.Max), l)
		part := d.slice(at, next)
		if visible(part) {
			return Part{From: offset, Next: next, Blocks: part}
		}
		at = next
	}
	return Part{From: offset, Next: max(len(d.Source), offset)}
}

// runeStart takes a place within a character back to the character's start.
func runeStart(s string, i int) int {
	for j := i - 1; j >= max(i-utf8.UTFMax+1, 0) && i < len(s); j-- {
		if _, size := utf8.DecodeRuneInString(s[j:]); j+size > i {
			return j
		}
	}
	return i
}

// window returns a place so far behind another that no part reaches it.
func (d *Document) window(at, runes int) int {
	i := d.blockAt(at)
	if i == len(d.Blocks) {
		return len(d.Source)
	}
	if place := d.Blocks[i].window(at, runes); place >= 0 {
		return place
	}
	for j := i + 1; j < len(d.Blocks); j++ {
		if d.Blocks[j].before-d.Blocks[i].before-d.Blocks[i].size > runes {
			return d.Blocks[j].start
		}
	}
	return len(d.Source)
}

// window is Document.window within a block, or -1. It lies at a run's start, in
// a table at a row's.
func (b *Block) window(at, runes int) int {
	n := 0
	if b.Grid == nil {
		for i := range b.Runs {
			r := &b.Runs[i]
			if n > runes {
				return r.Source
			}
			n += utf8.RuneCountInString(r.Text[r.cut(at):])
		}
		return -1
	}
	for i := range b.Grid.Rows {
		row := &b.Grid.Rows[i]
		if n > runes {
			return row.start()
		}
		for _, cell := range row.Cells {
			for _, r := range cell {
				n += utf8.RuneCountInString(r.Text[r.cut(at):])
			}
		}
	}
	return -1
}

// visible says whether a part shows anything.
func visible(blocks []Block) bool {
	for i := range blocks {
		if b := blocks[i]; b.measure() {
			return true
		}
	}
	return false
}

// end finds where the part that starts at a place ends, at most at to.
func (d *Document) end(at, to int, l Limit) int {
	rest := d.slice(at, to)
	left := d.left(at)
	share := 1.0 // of all that is left, or of Max runes
	if left <= l.Max {
		if share = l.Load(rest); share <= 1 {
			return len(d.Source)
		}
	}
	cuts := cutsIn(rest, l.Max)
	load := func(i int) float64 { return l.Load(d.slice(at, cuts[i].off)) }
	for hi := fitting(cuts, int(float64(min(left, l.Max))/share), load); hi >= 0; {
		i := choose(cuts[:hi+1], left)
		if i == hi || load(i) <= 1 {
			return d.skip(cuts[i].off)
		}
		hi = i - 1
	}
	if len(cuts) == 0 {
		return d.skip(to)
	}
	return d.skip(cuts[0].off)
}

// left returns the runes of text from a place on.
func (d *Document) left(at int) int {
	i := d.blockAt(at)
	if i == len(d.Blocks) {
		return 0
	}
	n := d.total - d.Blocks[i].before
	d.Blocks[i].groups(func(runs []Run) {
		for _, r := range runs {
			if r.Source < at {
				n -= utf8.RuneCountInString(r.Text[:r.cut(at)])
			}
		}
	})
	return n
}

// skip goes to the end where nothing that can be seen is left.
func (d *Document) skip(next int) int {
	if next >= d.visible {
		return len(d.Source)
	}
	return next
}

// full is the load from which looking for a fuller part isn't worth the while.
const full = 0.99

// fitting returns a place that fits, full or the last that does; -1 for none.
// The search starts about aim runes away. The load grows about as the text
// does, so a few tries are enough; where it doesn't, the rest is bisected.
func fitting(cuts []cut, aim int, load func(int) float64) int {
	lo, hi := -1, len(cuts)
	for tries := 0; lo+1 < hi; tries++ {
		try := lo + sort.Search(hi-lo-1, func(i int) bool { return cuts[lo+1+i].n > aim })
		if try <= lo || tries > 4 {
			try = (lo + hi) / 2
		}
		share := load(try)
		if share > 1 {
			hi = try
		} else if lo = try; share >= full {
			break
		}
		if aim = int(float64(cuts[try].n) * (1 + full) / 2 / max(share, 0.01)); aim == cuts[try].n {
			aim = (cuts[max(lo, 0)].n + cuts[min(hi, len(cuts)-1)].n) / 2
		}
	}
	return lo
}

// choose returns the best of the places that fit, of a text with so many runes
// left.
func choose(cuts []cut, left int) int {
	most := cuts[len(cuts)-1].n
	for _, floor := range []struct{ part, rest int }{
		{max(most/2, Orphan), Orphan}, {Orphan, Orphan}, {max(most/2, 1), 0}, {1, 0},
	} {
		if i := best(cuts, floor.part, left-floor.rest); i >= 0 {
			return i
		}
	}
	return len(cuts) - 1
}

// best returns the last place of the highest level with at least least and at
// most most runes before it, or -1. A forced place is not good enough.
func best(cuts []cut, least, most int) int {
	found := -1
	for i := len(cuts) - 1; i >= 0 && cuts[i].n >= least; i-- {
		if c := cuts[i]; c.n <= most && c.level > atForce && (found < 0 || c.level > cuts[found].level) {
			found = i
		}
	}
	return found
}
