package telegram

import (
	"strings"

	"orebot/conduit/markup"
)

// table writes a table in a fixed-width font where it fits a phone, else row by
// row: the first cell, and a bullet with header and value for each other one.
func (w *htmlWriter) table(b *markup.Block, in []markup.Container) {
	if b.Grid.Aligned {
		w.pre(strings.Join(b.Grid.Lines(), "\n"), "", false, in)
		return
	}
	w.prefix(in, true)
	fresh := !b.Cont && w.header(b.Grid)
	for _, row := range b.Grid.Rows {
		if fresh {
			w.space("\n")
			w.prefix(in, false)
		}
		w.row(b.Grid, row, in)
		fresh = true
	}
}

// header writes the name of the first column, which the rows don't repeat; of a
// table without rows, all names.
func (w *htmlWriter) header(g *markup.Grid) bool {
	for i, h := range g.Header {
		if i > 0 && len(g.Rows) > 0 {
			break
		}
		if i > 0 {
			w.text(" | ", look{})
		}
		w.runs(h, markup.Italic, nil)
	}
	return len(g.Header) > 0 && len(g.Header[0]) > 0
}

// row writes one row, or the cells of it that are in this part.
func (w *htmlWriter) row(g *markup.Grid, row markup.Row, in []markup.Container) {
	for i := row.From; i < len(row.Cells); i++ {
		if i > row.From {
			w.space("\n")
			w.prefix(in, false)
		}
		if i > 0 {
			w.text("• ", look{})
			if i < len(g.Header) && len(g.Header[i]) > 0 {
				w.runs(g.Header[i], 0, in)
				w.text(": ", look{})
			}
		}
		w.runs(row.Cells[i], cellStyle(i), in)
	}
}

// cellStyle sets the first cell of a row off.
func cellStyle(col int) markup.Style {
	if col == 0 {
		return markup.Bold
	}
	return 0
}
