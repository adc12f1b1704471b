package archtest

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	factTest  = regexp.MustCompile(`\b[a-z][a-z0-9]*\.(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	playName  = regexp.MustCompile(`\bplay\.TestPlays/([a-z0-9-]+)`)
	reportRow = regexp.MustCompile(`(?m)^\| (\d+) \|[^|]*\|([^|]*)\|$`)
)

// TestTheReportsAreAnswered: each test and each play that docs/reports.md names is there, and carries the report's number in its comment.
func TestTheReportsAreAnswered(t *testing.T) {
	root := filepath.Join("..", "..")
	says := commentsOf(t, root)
	rows := reportRow.FindAllStringSubmatch(doc(t, root, "reports.md"), -1)
	if len(rows) < 29 {
		t.Fatalf("only %d reports", len(rows))
	}
	for _, row := range rows {
		number := regexp.MustCompile(`(?s)\b(Reports?|reports?|F[OST])\b[^.:]*\b` + row[1] + `\b`)
		names := namedIn(row[2])
		if len(names) == 0 {
			t.Errorf("report %s names no test", row[1])
		}
		for _, name := range names {
			switch text, ok := says[name]; {
			case !ok:
				t.Errorf("report %s names %s, which isn't there", row[1], name)
			case !number.MatchString(text):
				t.Errorf("%s doesn't say that it answers report %s", name, row[1])
			}
		}
	}
}

// TestTheFactsNameWhatIsThere: the tests that the pages of facts name exist.
func TestTheFactsNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	says := commentsOf(t, root)
	for page, least := range map[string]int{"ollama-facts.md": 60} {
		names := namedIn(doc(t, root, page))
		if len(names) < least {
			t.Errorf("docs/%s names only %d tests", page, len(names))
		}
		for _, name := range names {
			if _, ok := says[name]; !ok {
				t.Errorf("docs/%s names %s, which isn't there", page, name)
			}
		}
	}
}

func doc(t *testing.T, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// namedIn returns the tests and plays that a text names.
func namedIn(text string) []string {
	return append(playName.FindAllString(text, -1), factTest.FindAllString(playName.ReplaceAllString(text, ""), -1)...)
}

// commentsOf returns what stands above each test of the module ("package.TestName") and in each play ("play.TestPlays/name").
func commentsOf(t *testing.T, root string) map[string]string {
	t.Helper()
	says := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir():
			testComments(t, path, says)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	plays, err := filepath.Glob(filepath.Join(root, "internal", "play", "testdata", "*.play"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range plays {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		says["play.TestPlays/"+strings.TrimSuffix(filepath.Base(path), ".play")] = string(text)
	}
	return says
}

func testComments(t *testing.T, dir string, says map[string]string) {
	t.Helper()
	for _, f := range parsed(t, dir, true) {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				says[strings.TrimSuffix(f.Name.Name, "_test")+"."+fn.Name.Name] = fn.Doc.Text()
			}
		}
	}
}
