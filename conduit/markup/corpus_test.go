package markup

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// answers are the answers written for this project, by file name.
func answers(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"corpus", "answers"} {
		files, _ := filepath.Glob(filepath.Join("testdata", dir, "*.md"))
		for _, f := range files {
			md, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[dir+"/"+filepath.Base(f)] = string(md)
		}
	}
	if len(out) < 100 {
		t.Fatalf("%d answers", len(out))
	}
	return out
}

// commonMarkExamples are those of CommonMark's own specification, as the goldmark module ships them.
func commonMarkExamples(t testing.TB) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Skip("there is no go command to find CommonMark's examples with: ", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Skip("CommonMark's examples aren't in the module cache: ", err)
	}
	var list []struct{ Markdown string }
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 600 {
		t.Fatalf("%d examples: %v", len(list), err)
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Markdown
	}
	return out
}

// TestAnswersKeepTheLaw: of the answers written for this project nothing is lost, wherever they are cut.
func TestAnswersKeepTheLaw(t *testing.T) {
	for name, md := range answers(t) {
		t.Run(name, func(t *testing.T) {
			d := Parse(md)
			checkDocument(t, d)
			for _, n := range []int{60, 300, 3500} {
				checkSplit(t, d, n)
			}
		})
	}
}

// TestCommonMarkKeepsTheLaw: the examples of CommonMark's specification, each alone and all in one.
func TestCommonMarkKeepsTheLaw(t *testing.T) {
	examples := commonMarkExamples(t)
	for _, md := range append(examples, strings.Join(examples, "\n\n")) {
		d := Parse(md)
		checkDocument(t, d)
		checkSplit(t, d, 40)
		checkSplit(t, d, 3500)
	}
}
