package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// walk collects the imports of every file below root that is no test, whatever its build constraints. Folders that the
// go command ignores are left out, and so are modules within the module.
func walk(root string) ([]arrow, error) {
	var out []arrow
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && ignored(path):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		more, err := imports(root, path)
		out = append(out, more...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("walk %s: %w", root, err)
	}
	return out, nil
}

func ignored(dir string) bool {
	name := filepath.Base(dir)
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func imports(root, path string) ([]arrow, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("imports of %s: %w", path, err)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	rel = filepath.ToSlash(rel)
	var out []arrow
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("imports of %s: %w", path, err)
		}
		out = append(out, arrow{from: strings.TrimSuffix(rel, "/"+filepath.Base(path)), to: to, file: rel})
	}
	return out, nil
}
