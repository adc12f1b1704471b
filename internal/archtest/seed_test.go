package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile(`\b([a-z]+)\.((?:Test|Fuzz|Benchmark)[A-Z]\w*)`)

// TestTheSeedsChecklistNamesWhatIsThere: a checklist whose tests were renamed or removed shows nothing any more.
func TestTheSeedsChecklistNamesWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	text := seedList(t, root)
	have := testsOf(t, root)
	found := testName.FindAllStringSubmatch(text, -1)
	if len(found) < 100 {
		t.Fatalf("only %d tests are named", len(found))
	}
	for _, m := range found {
		if !have[m[1]+"."+m[2]] {
			t.Errorf("docs/seed.md names %s, which isn't there", m[0])
		}
	}
}

// TestTheSeedsChecklistIsWhole: whatever the two packages export has its place in the list, and a comment.
func TestTheSeedsChecklistIsWhole(t *testing.T) {
	root := filepath.Join("..", "..")
	text := seedList(t, root)
	for _, dir := range []string{"core/loop", "core/artifact"} {
		n := 0
		for _, name := range exported(t, filepath.Join(root, dir)) {
			n++
			if !regexp.MustCompile("`[^`]*\\b" + name + "\\b[^`]*`").MatchString(text) {
				t.Errorf("docs/seed.md doesn't have %s of %s", name, dir)
			}
		}
		if n < 20 {
			t.Errorf("only %d names in %s", n, dir)
		}
	}
}

// TestCoreExplainsWhatItExports: every exported name of core has a comment, a constant of a block that of its block.
func TestCoreExplainsWhatItExports(t *testing.T) {
	core := filepath.Join("..", "..", "core")
	err := filepath.WalkDir(core, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "testdata" {
			return err
		}
		for _, f := range parsed(t, path, false) {
			for _, decl := range f.Decls {
				for _, name := range unexplained(decl) {
					t.Errorf("%s: %s has no comment", path, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func seedList(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "seed.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testsOf returns the tests of the module as "package.TestName".
func testsOf(t *testing.T, root string) map[string]bool {
	t.Helper()
	have := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" {
			return filepath.SkipDir
		}
		for _, f := range parsed(t, path, true) {
			for _, decl := range f.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
					have[strings.TrimSuffix(f.Name.Name, "_test")+"."+fn.Name.Name] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return have
}

// parsed reads the Go files of one folder, either its tests or the rest.
func parsed(t *testing.T, dir string, tests bool) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// exported returns the exported functions, types and constants of a package.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, f := range parsed(t, dir, false) {
		for _, decl := range f.Decls {
			for _, id := range declared(decl) {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

// declared returns the exported names that a declaration makes, methods left out.
func declared(decl ast.Decl) (ids []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Recv == nil {
			ids = append(ids, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			ids = append(ids, specNames(spec)...)
		}
	}
	return ids
}

func specNames(spec ast.Spec) (ids []*ast.Ident) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		ids = append(ids, s.Name)
	case *ast.ValueSpec:
		ids = append(ids, s.Names...)
	}
	kept := ids[:0]
	for _, id := range ids {
		if id.IsExported() {
			kept = append(kept, id)
		}
	}
	return kept
}

// unexplained returns the exported names of a declaration that no comment is about.
func unexplained(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && receiverExported(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if d.Doc != nil || commented(spec) {
				continue
			}
			for _, id := range specNames(spec) {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

func commented(spec ast.Spec) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc != nil || s.Comment != nil
	case *ast.ValueSpec:
		return s.Doc != nil || s.Comment != nil
	}
	return true
}

// receiverExported reports whether a function is none of a hidden type.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	return !ok || id.IsExported()
}
