package config

import (
	"slices"
	"strings"
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
		if d := distance(low, c[strings.LastIndexByte(c, '.')+1:]); d < at {
			best, at = c, d
		}
	}
	return best
}

// distance is how many letters must be put, dropped, changed or swapped with a neighbour to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
