package markup

import "strings"

// Rest returns the Markdown source from an offset on, as a text of its own: it begins at the start of the line that shows what stands
// there, opens a fence or repeats a table's header where the offset lies within, and isn't indented. Nothing of the source from the
// offset on is left out but that indentation.
func (d *Document) Rest(offset int) string {
	at := runeStart(d.Source, min(max(offset, 0), len(d.Source)))
	i := d.blockAt(at)
	if i == len(d.Blocks) {
		return d.Source[at:]
	}
	b := &d.Blocks[i]
	switch {
	case b.Kind == CodeBlock && at >= b.start:
		if fence := d.fenceAbove(b.start); fence != "" {
			return dedent(fence + d.lineTail(at))
		}
		return d.lineTail(at)
	case at <= b.start:
		from := min(at, max(d.lineOf(b.start), d.endBefore(i)))
		return dedent(strings.TrimLeft(d.Source[from:], "\n"))
	case b.Grid != nil:
		return dedent(d.headerOf(b) + d.Source[d.lineOf(at):])
	}
	return d.Source[at:]
}

// endBefore is where the block before block i ends.
func (d *Document) endBefore(i int) int {
	if i == 0 {
		return 0
	}
	return d.Blocks[i-1].end
}

// lineOf returns the start of the line that a place lies in.
func (d *Document) lineOf(at int) int { return strings.LastIndexByte(d.Source[:at], '\n') + 1 }

// lineTail returns the source from a place on, with the line's indentation where the place is its first visible byte.
func (d *Document) lineTail(at int) string {
	if line := d.lineOf(at); strings.TrimLeft(d.Source[line:at], " \t") == "" {
		return d.Source[line:]
	}
	return d.Source[at:]
}

// fenceAbove returns the line above a place if it opens a fence.
func (d *Document) fenceAbove(at int) string {
	end := d.lineOf(at)
	if end == 0 {
		return ""
	}
	line := d.Source[d.lineOf(end-1):end]
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return ""
	}
	return line
}

// headerOf returns a table's header and the line below it.
func (d *Document) headerOf(b *Block) string {
	from := d.lineOf(b.start)
	to := from
	for range 2 {
		n := strings.IndexByte(d.Source[to:], '\n')
		if n < 0 {
			return ""
		}
		to += n + 1
	}
	return d.Source[from:to]
}

// dedent takes the first line's indentation from it and from the lines behind it, up to one that has less.
func dedent(s string) string {
	width := len(s) - len(strings.TrimLeft(s, " "))
	if width == 0 {
		return s
	}
	var out strings.Builder
	for rest := s; rest != ""; {
		line, tail, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, strings.Repeat(" ", width)) {
			out.WriteString(rest)
			break
		}
		out.WriteString(strings.TrimPrefix(rest[:len(rest)-len(tail)], strings.Repeat(" ", min(width, len(line)))))
		rest = tail
	}
	return out.String()
}
