package config

import (
	"slices"
	"strings"

	"orebot/core/words"
)

// suggestion returns the remedy for an unknown key of the table prefix: the key that was probably meant, in this table
// or another, else the list of what there is.
func suggestion(prefix, key string, known []string) string {
	var here, elsewhere []string
	for _, k := range known {
		here = append(here, prefix+k)
	}
	for _, f := range Default().Fields() {
		elsewhere = append(elsewhere, f.Key)
	}
	for _, candidates := range [][]string{here, elsewhere} {
		if best := nearest(key, candidates); best != "" {
			return "; did you mean " + best + "?"
		}
	}
	slices.Sort(known)
	return "; there is " + strings.Join(known, ", ")
}

// nearest returns the candidate whose last part is closest to key, or "" where none is close.
func nearest(key string, candidates []string) string {
	low := strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	best, at := "", 1+max(1, len(key)/3)
	for _, c := range candidates {
		if d := words.Distance(low, c[strings.LastIndexByte(c, '.')+1:]); d < at {
			best, at = c, d
		}
	}
	return best
}
