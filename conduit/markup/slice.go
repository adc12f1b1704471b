package markup

import "sort"

// slice returns the blocks between two places in the source. A block that is
// cut at its start goes on: it shows no marker and is marked Cont.
func (d *Document) slice(from, to int) []Block {
	i := d.blockAt(from)
	j := i
	for j < len(d.Blocks) && d.Blocks[j].start < to {
		j++
	}
	if i >= j {
		return nil
	}
	first, last := d.Blocks[i].start < from, d.Blocks[j-1].end > to
	if !first && !last {
		return d.Blocks[i:j]
	}
	out := append([]Block(nil), d.Blocks[i:j]...)
	if first {
		out[0].trim(from, to)
	}
	if last && (j-1 > i || !first) {
		out[j-1-i].trim(from, to)
	}
	return out
}

// blockAt returns the first block that isn't over at a place in the source.
func (d *Document) blockAt(from int) int {
	return sort.Search(len(d.Blocks), func(i int) bool { return d.Blocks[i].end > from })
}

// trim leaves of a block what stands between two places in the source.
func (b *Block) trim(from, to int) {
	if b.start < from {
		b.Cont = true
		b.In = append([]Container(nil), b.In...)
		for i := range b.In {
			b.In[i].First = false
		}
	}
	if b.Grid == nil {
		b.Runs = trimRuns(b.Runs, from, to)
	} else {
		b.Grid = b.Grid.trim(from, to)
	}
	b.start, b.end = max(b.start, from), min(b.end, to)
}

// trimRuns cuts the runs; only a literal one is cut in the middle.
func trimRuns(runs []Run, from, to int) []Run {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].End > from })
	j := sort.Search(len(runs), func(j int) bool { return runs[j].Source >= to })
	if i >= j {
		return nil
	}
	runs = append([]Run(nil), runs[i:j]...)
	if r := &runs[len(runs)-1]; r.Literal && r.End > to {
		r.Text, r.End = r.Text[:to-r.Source], to
	}
	if r := &runs[0]; r.Literal && r.Source < from {
		r.Text, r.Source = r.Text[from-r.Source:], from
	}
	return runs
}

// cut returns how much of a run's text lies before a place in the source.
func (r *Run) cut(at int) int {
	switch {
	case at >= r.End:
		return len(r.Text)
	case r.Literal:
		return max(at-r.Source, 0)
	}
	return 0
}

// trim leaves the rows and cells between two places in the source. The header
// stays: a part of a table names its columns.
func (g *Grid) trim(from, to int) *Grid {
	out := *g
	out.Rows = nil
	i := sort.Search(len(g.Rows), func(i int) bool { return g.Rows[i].start() >= from })
	j := sort.Search(len(g.Rows), func(j int) bool { return g.Rows[j].start() >= to })
	for _, r := range g.Rows[max(i-1, 0):max(i, j)] {
		if r, ok := r.trim(from, to); ok {
			out.Rows = append(out.Rows, r)
		}
	}
	return &out
}

// start is where the row's text starts in the source; it has some.
func (r *Row) start() int {
	for _, c := range r.Cells[r.From:] {
		if len(c) > 0 {
			return c[0].Source
		}
	}
	return 0
}

func (r Row) trim(from, to int) (Row, bool) {
	out := Row{Cells: make([]Cell, 0, len(r.Cells)), From: -1}
	for i, c := range r.Cells {
		if len(c) > 0 && c[0].Source >= to {
			break
		}
		c = trimRuns(c, from, to)
		if len(c) > 0 && out.From < 0 {
			out.From = i
		}
		out.Cells = append(out.Cells, c)
	}
	return out, out.From >= 0
}
