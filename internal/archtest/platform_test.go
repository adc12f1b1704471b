package archtest

import (
	"go/ast"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var factRow = regexp.MustCompile(`^\| ([A-EO][0-9]?\.[0-9]+|[0-9]+) \| (.+) \| (.+) \|$`)

var shownBy = regexp.MustCompile("`([a-z0-9]+)\\.((?:Test|Fuzz)[A-Z]\\w*)`")

// TestThePlatformsFactsNameWhatIsThere: each fact of a platform has a test that exists, or a reason why nothing is done; none has two lines.
func TestThePlatformsFactsNameWhatIsThere(t *testing.T) {
	for conduit, least := range map[string]int{"telegram": 150, "slack": 140} {
		t.Run(conduit, func(t *testing.T) { checkFacts(t, conduit, least) })
	}
}

func checkFacts(t *testing.T, conduit string, least int) {
	root := filepath.Join("..", "..")
	have, docs, seen := testsOf(t, root), docsOf(t, filepath.Join(root, "conduit", conduit)), map[string]bool{}
	for line := range strings.Lines(doc(t, root, conduit+"-facts.md")) {
		line = strings.TrimSpace(line)
		row := factRow.FindStringSubmatch(line)
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| name |") || strings.HasPrefix(line, "|---"):
		case row == nil:
			t.Errorf("no line about a fact: %s", line)
		default:
			if seen[row[1]] {
				t.Errorf("%s has two lines", row[1])
			}
			seen[row[1]] = true
			checkShown(t, conduit, row[1], row[3], have, docs)
		}
	}
	if len(seen) < least {
		t.Errorf("only %d facts", len(seen))
	}
}

// docsOf returns the comments of a folder's tests, by their names.
func docsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, f := range parsed(t, dir, true) {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				docs[fn.Name.Name] = fn.Doc.Text()
			}
		}
	}
	return docs
}

// checkShown checks what a line says shows it. The conduit's own tests say in their comments what they show.
func checkShown(t *testing.T, conduit, name, shown string, have map[string]bool, docs map[string]string) {
	t.Helper()
	found := shownBy.FindAllStringSubmatch(shown, -1)
	if reason, not := strings.CutPrefix(shown, "not: "); not != (len(found) == 0) || not && len(reason) < 20 {
		t.Errorf("%s has neither a test nor a reason: %s", name, shown)
	}
	for _, m := range found {
		if !have[m[1]+"."+m[2]] {
			t.Errorf("%s names %s, which isn't there", name, m[0])
		}
		doc, own := docs[m[2]]
		if own && m[1] == conduit && !regexp.MustCompile(`(^|[ ,])`+regexp.QuoteMeta(name)+`[,;.]`).MatchString(doc) {
			t.Errorf("the comment of %s doesn't name %s", m[0], name)
		}
	}
}
