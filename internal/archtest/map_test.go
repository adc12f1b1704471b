package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapped is the number of files from which on a package's comment has a map of them.
const mapped = 20

// mapTitle heads the map: lines of a topic, two blanks, and names of files without ".go", with remarks in parentheses.
const mapTitle = "// # Where things are\n"

var (
	mapLine = regexp.MustCompile(`^//\t(?:\S.*?)?\s{2,}(\S.*)$`)
	remark  = regexp.MustCompile(`\([^)]*\)`)
)

// TestTheMapsOfLargePackagesAreWhole: a map names each file of its package that is no test, once, and no other; no large package is
// without one.
func TestTheMapsOfLargePackagesAreWhole(t *testing.T) {
	root := filepath.Join("..", "..")
	maps := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != root && ignored(dir):
			return filepath.SkipDir
		}
		files, drawn, ok := filesOf(t, dir), []string(nil), false
		if text, err := os.ReadFile(filepath.Join(dir, "doc.go")); err == nil {
			drawn, ok = mapOf(string(text))
		}
		switch {
		case ok && !slices.Equal(drawn, files):
			t.Errorf("%s: doc.go's map and the folder differ:\nmap    %v\nfolder %v", dir, drawn, files)
		case !ok && len(files) > mapped:
			t.Errorf("%s: %d files, and no map in doc.go", dir, len(files))
		case ok:
			maps++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if maps < 5 {
		t.Errorf("only %d maps", maps)
	}
}

func TestMapOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		ok   bool
	}{
		{"// Package a is.\npackage a\n", nil, false},
		{mapTitle + "//\n//\tin    b, a (reads, writes); c_d\n//\tvery long topic  e\n//\t      f\n//\n// in  x\npackage a\n", []string{"a", "b", "c_d", "e", "f"}, true},
		{mapTitle + "//\tin  a, a\npackage a\n//\tout  b\n", []string{"a", "a"}, true},
	} {
		if got, ok := mapOf(c.text); !slices.Equal(got, c.want) || ok != c.ok {
			t.Errorf("%q: %v, %v", c.text, got, ok)
		}
	}
}

// mapOf returns the names in the map of a package's comment, in order; ok says whether there is one.
func mapOf(text string) (names []string, ok bool) {
	_, text, ok = strings.Cut(text, mapTitle)
	text, _, _ = strings.Cut(text, "\npackage ")
	for line := range strings.Lines(text) {
		m := mapLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for _, name := range strings.FieldsFunc(remark.ReplaceAllString(m[1], ""), func(r rune) bool { return r == ',' || r == ';' }) {
			names = append(names, strings.TrimSpace(name))
		}
	}
	slices.Sort(names)
	return names, ok
}

// filesOf returns the names of a folder's Go files that are no tests, without ".go", in order; doc.go is left out.
func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".go"); is && !strings.HasSuffix(name, "_test") && name != "doc" {
			names = append(names, name)
		}
	}
	return names
}
