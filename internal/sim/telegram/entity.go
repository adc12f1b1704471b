package telegram

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// Entity is a marked range of a text as the Bot API shows it. Offset and Length count UTF-16 code units.
type Entity struct {
	Type        string `json:"type"`
	Offset      int    `json:"offset"`
	Length      int    `json:"length"`
	URL         string `json:"url,omitempty"`
	User        *User  `json:"user,omitempty"`
	Language    string `json:"language,omitempty"`
	CustomEmoji string `json:"custom_emoji_id,omitempty"`
	UnixTime    int64  `json:"unix_time,omitempty"`
	TimeFormat  string `json:"date_time_format,omitempty"`
}

// End is the offset just behind the entity, in UTF-16 code units.
func (e Entity) End() int { return e.Offset + e.Length }

// Of returns the part of text that the entity marks; what lies outside the text is cut off.
func (e Entity) Of(text string) string {
	u := utf16.Encode([]rune(text))
	from, to := min(max(e.Offset, 0), len(u)), min(max(e.End(), 0), len(u))
	return string(utf16.Decode(u[from:max(from, to)]))
}

// units is the length of s in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// rank orders entities that cover the same range, the outermost first (source: get_type_priority).
func (e Entity) rank() int {
	switch e.Type {
	case "blockquote", "expandable_blockquote":
		return 0
	case "pre":
		if e.Language != "" {
			return 10
		}
		return 11
	case "code":
		return 20
	case "text_link", "text_mention":
		return 49
	case "bold":
		return 90
	case "italic":
		return 91
	case "underline":
		return 92
	case "strikethrough":
		return 93
	case "spoiler":
		return 94
	case "custom_emoji":
		return 99
	}
	return 50
}

func sortEntities(es []Entity) {
	slices.SortStableFunc(es, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length), cmp.Compare(a.rank(), b.rank()))
	})
}

func (e Entity) isStyle() bool { return e.rank() >= 90 && e.rank() <= 94 }
func (e Entity) isQuote() bool { return e.rank() == 0 }
func (e Entity) isCode() bool  { return e.Type == "pre" || e.Type == "code" }

// normalise settles which of the overlapping entities a person gets to see (source: fix_entities): of two links or code
// ranges that overlap the first wins, quotes don't nest, adjacent equal styles merge, styles are cut at the edges of
// everything else and vanish inside code.
func normalise(es []Entity) []Entity {
	var styles, quotes, solid []Entity
	sortEntities(es)
	for _, e := range es {
		switch {
		case e.Length <= 0:
		case e.isStyle():
			styles = append(styles, e)
		case e.isQuote():
			quotes = append(quotes, e)
		default:
			solid = append(solid, e)
		}
	}
	quotes = withoutOverlaps(quotes)
	solid = outsideEdges(withoutOverlaps(solid), quotes)
	styles = cutStyles(mergeStyles(styles), append(slices.Clone(quotes), solid...))
	all := slices.Concat(quotes, solid, styles)
	sortEntities(all)
	return all
}

// withoutOverlaps keeps each entity that begins behind the last one kept.
func withoutOverlaps(es []Entity) []Entity {
	var kept []Entity
	end := 0
	for _, e := range es {
		if e.Offset >= end {
			kept, end = append(kept, e), e.End()
		}
	}
	return kept
}

// outsideEdges drops the entities that cross an edge of a quote or hold a whole one.
func outsideEdges(es, quotes []Entity) []Entity {
	return slices.DeleteFunc(es, func(e Entity) bool {
		return slices.ContainsFunc(quotes, func(q Entity) bool {
			apart := e.End() <= q.Offset || e.Offset >= q.End()
			inside := e.Offset >= q.Offset && e.End() <= q.End()
			return !apart && !inside
		})
	})
}

// mergeStyles joins ranges of one style that touch or overlap. It expects sorted entities.
func mergeStyles(es []Entity) []Entity {
	last := map[string]int{}
	var out []Entity
	for _, e := range es {
		if i, ok := last[e.Type]; ok && e.Offset <= out[i].End() {
			out[i].Length = max(out[i].End(), e.End()) - out[i].Offset
			continue
		}
		last[e.Type] = len(out)
		out = append(out, e)
	}
	return out
}

// cutStyles cuts styles at the edges of other entities, drops what lies in code, and cuts them where another style
// crosses their end, so that what is left nests.
func cutStyles(styles, others []Entity) []Entity {
	var edges []int
	for _, o := range others {
		edges = append(edges, o.Offset, o.End())
	}
	for _, a := range styles {
		for _, b := range styles {
			if a.Offset < b.Offset && b.Offset < a.End() && a.End() < b.End() {
				edges = append(edges, b.Offset)
			}
		}
	}
	var out []Entity
	for _, e := range styles {
		out = append(out, piecesOf(e, edges)...)
	}
	return slices.DeleteFunc(out, func(e Entity) bool {
		return slices.ContainsFunc(others, func(o Entity) bool {
			return o.isCode() && e.Offset >= o.Offset && e.End() <= o.End()
		})
	})
}

func piecesOf(e Entity, edges []int) []Entity {
	cuts := []int{e.Offset, e.End()}
	for _, at := range edges {
		if at > e.Offset && at < e.End() {
			cuts = append(cuts, at)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []Entity
	for i := 1; i < len(cuts); i++ {
		p := e
		p.Offset, p.Length = cuts[i-1], cuts[i]-cuts[i-1]
		out = append(out, p)
	}
	return out
}
