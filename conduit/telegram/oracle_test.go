package telegram

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"orebot/conduit"
	"orebot/conduit/markup"
)

// oracle is Telegram's own parser: TDLib's td_execute, behind the program in testdata/tdlib.
type oracle struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// askTelegram starts the oracle. TDLIB_DIR is where npm has put @prebuilt-tdlib/linux-x64-glibc; without it the test is skipped.
func askTelegram(t *testing.T) *oracle {
	t.Helper()
	dir := os.Getenv("TDLIB_DIR")
	if dir == "" {
		t.Skip("TDLIB_DIR is unset: Telegram's own parser (npm install @prebuilt-tdlib/linux-x64-glibc@0.1008065.0) isn't asked")
	}
	lib := filepath.Join(dir, "node_modules", "@prebuilt-tdlib", "linux-x64-glibc", "libtdjson.so")
	prog := filepath.Join(t.TempDir(), "execute")
	if out, err := exec.Command("cc", "-O1", "-o", prog, "testdata/tdlib/execute.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(prog, lib)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the oracle ended with %v", err)
		}
	})
	return &oracle{t, in, bufio.NewReader(out)}
}

// tdText is a text with its entities, or an error, in TDLib's words.
type tdText struct {
	Type     string     `json:"@type"`
	Text     string     `json:"text"`
	Entities []tdEntity `json:"entities"`
	Message  string     `json:"message"`
}

type tdEntity struct {
	Offset int `json:"offset"`
	Length int `json:"length"`
	Type   struct {
		Name     string `json:"@type"`
		URL      string `json:"url"`
		Language string `json:"language"`
	} `json:"type"`
}

func (e tdEntity) is(names ...string) bool {
	return slices.Contains(names, strings.TrimPrefix(e.Type.Name, "textEntityType"))
}

func (o *oracle) ask(request map[string]any) tdText {
	o.t.Helper()
	b, err := json.Marshal(request)
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.in.Write(append(b, '\n')); err != nil {
		o.t.Fatal(err)
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		o.t.Fatal(err)
	}
	var got tdText
	if err := json.Unmarshal(line, &got); err != nil {
		o.t.Fatalf("%v: %s", err, line)
	}
	return got
}

// parse has HTML parsed.
func (o *oracle) parse(html string) tdText {
	return o.ask(map[string]any{"@type": "parseTextEntities", "text": html, "parse_mode": map[string]any{"@type": "textParseModeHTML"}})
}

// finds returns what Telegram marks in a text by itself.
func (o *oracle) finds(text string) []tdEntity {
	return o.ask(map[string]any{"@type": "getTextEntities", "text": text}).Entities
}

// accepts fails where Telegram refuses a part, reads it otherwise than it was meant, or finds something live in it.
func (o *oracle) accepts(p conduit.Part) {
	o.t.Helper()
	b := p.Body.(body)
	got := tdText{Text: b.text}
	if b.html {
		got = o.parse(b.text)
	}
	switch {
	case got.Type == "error":
		o.t.Fatalf("Telegram refuses %q: %s", b.text, got.Message)
	case got.Text != p.Text:
		o.t.Fatalf("Telegram shows %q, meant was %q", got.Text, p.Text)
	case units16(got.Text) > maxUnits || len(b.text) > maxBytes:
		o.t.Fatalf("%d units, %d bytes", units16(got.Text), len(b.text))
	}
	o.dead(got)
}

// dead fails where a person would be pinged or a touch would send a command, and where so much is marked that Telegram drops the rest.
func (o *oracle) dead(got tdText) {
	o.t.Helper()
	all := len(got.Entities)
	text := utf16.Encode([]rune(got.Text))
	for _, e := range o.finds(got.Text) {
		if e.is("MediaTimestamp") || covered(e, got.Entities) {
			continue
		}
		if e.is("Mention", "BotCommand", "MentionName") {
			o.t.Fatalf("%q is live in %q", string(utf16.Decode(text[e.Offset:e.Offset+e.Length])), got.Text)
		}
		all++
	}
	if all > 100 {
		o.t.Fatalf("%d entities in %q", all, got.Text)
	}
}

// covered reports whether what Telegram finds by itself lies in code or a link, where it stays text.
func covered(e tdEntity, given []tdEntity) bool {
	return slices.ContainsFunc(given, func(g tdEntity) bool {
		return g.is("Code", "Pre", "PreCode", "TextUrl") && g.Offset < e.Offset+e.Length && e.Offset < g.Offset+g.Length
	})
}

// Telegram's own parser takes every part that is made of a corpus of answers, of what models wrote and of CommonMark's
// examples, whole, halved and as plain text, and reads what was meant.
// Facts A5.2, C.1; report 20.
func TestTelegramAcceptsEveryPart(t *testing.T) {
	o := askTelegram(t)
	n := 0
	for _, src := range everySource(t) {
		for _, how := range []conduit.Shape{{}, {Repeat: true, Shrink: 1}, {Plain: true}} {
			for _, p := range partsOf(t, conduit.Item{Source: src}, how) {
				o.accepts(p)
				n++
			}
		}
	}
	if n < 2000 {
		t.Errorf("only %d parts were asked about", n)
	}
	t.Logf("%d parts", n)
}

// What the renderer believes of links and of file names is what Telegram does.
// Facts A4.8, A5.6, C.1.
func TestTelegramTakesWhatIsTakenForALink(t *testing.T) {
	o := askTelegram(t)
	for _, url := range []string{
		"https://ex.com", "http://ex.com/a?b=c&d#e", "HTTPS://EX.COM/", "http://1.2.3.4/", "http://1.2.3.4:8080/x", "https://ex.com:443/a_(b)",
		"https://ex.com/%D0%B0", "https://пример.рф/а", "https://a-b.example.museum", "http://localhost:11434/api", "http://single", "ftp://x",
		"mailto:a@b.org", "tel:+1", "javascript:alert(1)", "data:text/html,x", "#a", "/rel", "./rel.md", "", "https://", "http://a..b",
		"https://ex.com/ä b", "https://user:pw@ex.com/",
	} {
		got := o.parse(`<a href="` + attrEscaper.Replace(url) + `">x</a>`)
		taken := len(got.Entities) == 1 && got.Entities[0].is("TextUrl")
		if linkable(url) && !taken {
			t.Errorf("%q is no link for Telegram (%+v)", url, got)
		}
	}
	for _, ending := range fileEndings {
		name := "name." + ending
		if es := o.finds(name); len(es) != 1 || !es[0].is("Url") {
			t.Errorf("Telegram makes no link of %s", name)
		}
		for _, text := range []string{name, "a " + name + ", b", "(" + name + ")", "\"" + name + "\"", name + ".", name + ":12", name + "()", "x=" + name,
			"my-" + name, "ä" + name, "a.b." + name, "./" + name, "~/" + name} {
			got := o.parse(renderBlocks(markup.Parse(text).Blocks).HTML)
			for _, e := range o.finds(got.Text) {
				if e.is("Url", "BotCommand") && !covered(e, got.Entities) && !strings.HasPrefix(text, "x=") {
					t.Errorf("%s is live in %q", e.Type.Name, text)
				}
			}
		}
	}
}

// everySource is all the Markdown at hand.
func everySource(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"corpus", "answers"} {
		files, _ := filepath.Glob("../markup/testdata/" + dir + "/*.md")
		if len(files) < 25 {
			t.Fatalf("%d files in %s", len(files), dir)
		}
		for _, f := range files {
			md, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(md))
		}
	}
	out = append(out, commonMark(t)...)
	out = append(out, longAnswers...)
	if f, err := os.Open("../../../shared/cases/model-answers.jsonl"); err == nil {
		_ = f.Close()
		out = append(out, htmlAnswers(t)...)
	} else {
		t.Log("the shared model answers aren't here: ", err)
	}
	return out
}

// commonMark returns the examples of CommonMark's specification, which goldmark carries.
func commonMark(t testing.TB) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Skip("goldmark's module can't be found: ", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Skip("CommonMark's examples aren't here: ", err)
	}
	var examples []struct{ Markdown string }
	if err := json.Unmarshal(raw, &examples); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(examples))
	for i, e := range examples {
		out[i] = e.Markdown
	}
	return out
}
