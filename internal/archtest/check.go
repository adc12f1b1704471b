package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// arrow is one import by a file that is no test.
type arrow struct {
	from string // a path below the module, such as "core/loop"
	to   string // an import path
	file string // where it stands
}

// check returns a sentence for each arrow that the table forbids.
func check(arrows []arrow) []string {
	found := map[string]bool{}
	for _, a := range arrows {
		if below(a.from, testCode()...) {
			continue
		}
		if complaint := judge(a); complaint != "" {
			found[a.file+": "+complaint] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func judge(a arrow) string {
	own, ours := strings.CutPrefix(a.to, module+"/")
	if !ours {
		return judgeOutside(a)
	}
	r, ok := rowOf(a.from)
	switch {
	case !ok:
		return a.from + " isn't in the table of internal/archtest; give it a row"
	case below(own, testCode()...):
		return a.from + " imports test code: " + own
	case below(own, "cmd"):
		return a.from + " imports a command: " + own
	case slices.Contains(r.may, anything), allowed(own, r):
		return ""
	}
	return fmt.Sprintf("%s may not import %s (it may: %s)", a.from, own, cmp.Or(strings.Join(r.may, ", "), "nothing of ours"))
}

// allowed reports whether a package of row r may import the package own: one of its own row, or one that r names. A
// name stands for what is below it too, unless that has a row of its own and isn't part of core.
func allowed(own string, r row) bool {
	target, ok := rowOf(own)
	if ok && target.path == r.path {
		return true
	}
	return slices.ContainsFunc(r.may, func(path string) bool {
		return below(own, path) && (path == "core" || !ok || target.path == path)
	})
}

func judgeOutside(a arrow) string {
	all := homes()
	for _, prefix := range slices.Sorted(maps.Keys(all)) {
		if !below(a.to, prefix) || (below(a.from, all[prefix]...) && !below(a.from, "core")) {
			continue
		}
		only := cmp.Or(strings.Join(all[prefix], ", "), "test code")
		return fmt.Sprintf("%s may not import %s (only: %s)", a.from, a.to, only)
	}
	return ""
}

// rowOf returns the row with the longest path that pkg is at or below.
func rowOf(pkg string) (row, bool) {
	var best row
	found := false
	for _, r := range table() {
		if below(pkg, r.path) && len(r.path) > len(best.path) {
			best, found = r, true
		}
	}
	return best, found
}

// below reports whether pkg is one of the paths or lies below one.
func below(pkg string, paths ...string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}
