package observe_test

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"orebot/core/observe"
)

var _ observe.Counters = observe.Nop{}

// TestNamesAreDistinct finds a key or figure that was copied and not renamed.
func TestNamesAreDistinct(t *testing.T) {
	byKind := map[string]map[string]string{}
	for name, value := range constants(t) {
		kind := kindOf(name, value)
		if byKind[kind] == nil {
			byKind[kind] = map[string]string{}
		}
		if other, ok := byKind[kind][value]; ok {
			t.Errorf("%s and %s are both %q", name, other, value)
		}
		byKind[kind][value] = name
	}
	if len(byKind["figure"]) != 19 {
		t.Errorf("%d figures, want 19", len(byKind["figure"]))
	}
}

func kindOf(name, value string) string {
	switch {
	case strings.HasPrefix(value, "orebot_"):
		return "figure"
	case strings.HasPrefix(name, "Key"):
		return "key"
	default:
		return "value"
	}
}

func constants(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range []string{"keys.go", "counters.go"} {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("observe", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			out[name] = constant.StringVal(c.Val())
		}
	}
	return out
}
