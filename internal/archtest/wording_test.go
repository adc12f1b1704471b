package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wording is one line that people read when something is wrong: the file that says it, the constants that it is put together from, with
// what is put between them after a "=", and the values of a format.
type wording struct {
	file  string
	parts []string
	args  []any
	want  string
}

func wordings() []wording {
	return []wording{
		{"core/session/failure.go", []string{"The model server hasn't answered for %s. Your message is kept; %s."}, []any{"2 min", "`!retry` asks again"},
			"The model server hasn't answered for 2 min. Your message is kept; `!retry` asks again."},
		{"core/session/signing.go", []string{"Loading `%s`, can take minutes."}, []any{"m"}, "Loading `m`, can take minutes."},
		{"core/session/failure.go", []string{"`%s` isn't installed. Here: %s. `%smodel %s`"}, []any{"m", "a, b", "!", "a"}, "`m` isn't installed. Here: a, b. `!model a`"},
		{"core/session/signing.go", []string{"%s ahead of you. `%sstop` withdraws."}, []any{"Two", "!"}, "Two ahead of you. `!stop` withdraws."},
		{"core/session/signing.go", []string{"Still working."}, nil, "Still working."},
		{"core/session/fit.go", []string{"About %s tokens; `%s` takes about %s here."}, []any{"12,400", "m", "5,900"}, "About 12,400 tokens; `m` takes about 5,900 here."},
		{"core/session/fit.go", []string{"Older messages no longer fit; I keep a summary."}, nil, "Older messages no longer fit; I keep a summary."},
		{"core/session/limits.go", []string{"%d a minute is the limit; go on in %s."}, []any{20, "25 s"}, "20 a minute is the limit; go on in 25 s."},
		{"conduit/limit.go", []string{"*Stopped at the length limit; say 'go on'.*"}, nil, "*Stopped at the length limit; say 'go on'.*"},
		{"core/session/failure.go", []string{"The model stopped without an answer; I tried twice. ", "=`!retry` asks again", "."}, nil,
			"The model stopped without an answer; I tried twice. `!retry` asks again."},
		{"core/slash/act.go", []string{"Stopped, %d waiting withdrawn.", " `", "=!", "retry` asks again."}, []any{2}, "Stopped, 2 waiting withdrawn. `!retry` asks again."},
		{"core/session/attach.go", []string{"I can't read ", "=.xlsx", "; text, images and code work."}, nil, "I can't read .xlsx; text, images and code work."},
		{"core/session/above.go", []string{"I couldn't see ", "the image", "; ", "models that can: ", "=a", "."}, nil, "I couldn't see the image; models that can: a."},
		{"conduit/show.go", []string{"Part of my answer may be missing."}, nil, "Part of my answer may be missing."},
		{"conduit/telegram/render.go", []string{"(this part may be a repeat)\n"}, nil, "(this part may be a repeat)\n"},
		{"core/session/attach.go", []string{"I can't listen to voice messages; please type."}, nil, "I can't listen to voice messages; please type."},
		{"conduit/telegram/media.go", []string{"I can't listen to voice messages; please type."}, nil, "I can't listen to voice messages; please type."},
		{"core/session/old.go", []string{"You asked %s ago while I was away; `%sretry` asks it now."}, []any{"19 h", "!"}, "You asked 19 h ago while I was away; `!retry` asks it now."},
		{"core/session/stranger.go", []string{"I don't know you yet. Ask the operator to run `orebot access approve %s` (valid 1 h)."}, []any{"7Q4K"},
			"I don't know you yet. Ask the operator to run `orebot access approve 7Q4K` (valid 1 h)."},
		{"core/access/policy.go", []string{"Not enabled here. Operator: `orebot access allow %s`."}, []any{"telegram:-100123"},
			"Not enabled here. Operator: `orebot access allow telegram:-100123`."},
	}
}

// text is what the constants make.
func (w wording) text() string {
	var b strings.Builder
	for _, p := range w.parts {
		b.WriteString(strings.TrimPrefix(p, "="))
	}
	if w.args == nil {
		return b.String()
	}
	return fmt.Sprintf(b.String(), w.args...)
}

// constants returns the string literals of a file.
func constants(t *testing.T, path string) (all []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, s)
			}
		}
		return true
	})
	return all
}

// What the bot says when something is wrong is what has been promised, constant by constant.
func TestWording(t *testing.T) {
	for _, w := range wordings() {
		have := constants(t, filepath.Join("../..", w.file))
		for _, p := range w.parts {
			if !strings.HasPrefix(p, "=") && !slices.Contains(have, p) {
				t.Errorf("%s has no constant %q", w.file, p)
			}
		}
		if got := w.text(); got != w.want {
			t.Errorf("%s says %q, want %q", w.file, got, w.want)
		}
	}
}

// Every line that the interface quotes is among them.
func TestWordingIsTheInterfaces(t *testing.T) {
	page, err := os.ReadFile("../../../shared/interface.md")
	if err != nil {
		t.Skip("the interface's page isn't here: ", err)
	}
	_, section, _ := strings.Cut(string(page), "## What the bot says when something is wrong")
	section, _, _ = strings.Cut(section, "\n## ")
	quotes := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(section, -1)
	if len(quotes) < 18 {
		t.Fatalf("only %d quotations", len(quotes))
	}
	for _, q := range quotes {
		line := strings.TrimPrefix(strings.Join(strings.Fields(q[1]), " "), "plus ")
		if !slices.ContainsFunc(wordings(), func(w wording) bool { return strings.HasPrefix(strings.Trim(w.want, "*\n"), line) }) {
			t.Errorf("nothing says %q", line)
		}
	}
}
