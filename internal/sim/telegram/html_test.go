package telegram

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// golden is what Telegram's own library (TDLib 1.8.65, parseTextEntities) answered.
type golden struct {
	HTML string   `json:"html"`
	Err  string   `json:"err"`
	Text string   `json:"text"`
	Ents []string `json:"ents"`
}

func TestParseHTMLAnswersAsTelegramsOwnParser(t *testing.T) {
	f, err := os.Open("testdata/html.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var want golden
		if err := json.Unmarshal(sc.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		text, es, err := ParseHTML(want.HTML)
		if got := errText(err); got != want.Err || text != want.Text || !slices.Equal(flat(es), want.Ents) {
			t.Errorf("%q\n got %q %q %q\nwant %q %q %q", want.HTML, got, text, flat(es), want.Err, want.Text, want.Ents)
		}
	}
	if n < 200 {
		t.Fatalf("only %d cases", n)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func flat(es []Entity) []string {
	var out []string
	for _, e := range es {
		extra := e.URL + e.Language + e.CustomEmoji
		if e.User != nil {
			extra = fmt.Sprint(e.User.ID)
		}
		if e.Type == "date_time" {
			extra = fmt.Sprint(e.UnixTime)
		}
		out = append(out, fmt.Sprintf("%s %d %d %s", e.Type, e.Offset, e.Length, extra))
	}
	return out
}

func TestParseHTMLTakesEveryWantedRendering(t *testing.T) {
	raw, err := os.ReadFile("../../../../shared/cases/telegram-markdown.json")
	if err != nil {
		t.Skip("the case file is not here")
	}
	var cases []struct{ Name, MD, HTML string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases[:len(cases)-1] { // the last one is never sent
		text, _, err := ParseHTML(c.HTML)
		if err != nil || text == "" {
			t.Errorf("%s: %q, %v", c.Name, text, err)
		}
	}
}

func TestParseHTMLWantsUTF8(t *testing.T) {
	if _, _, err := ParseHTML("a\xff"); errText(err) != "can't parse entities: Text must be encoded in UTF-8" {
		t.Error(err)
	}
}

func TestShowNormalises(t *testing.T) {
	for _, c := range []struct {
		html, text string
		want       []string
	}{
		{"  \n<b>a</b> \n", "a", []string{"bold 0 1 "}},
		{"<b>  a</b>  b", "  a  b", []string{"bold 0 3 "}},
		{"<pre>a\tb\r\n</pre>", "a b", []string{"pre 0 3 "}},
		{"<b>a</b><b>b</b>", "ab", []string{"bold 0 2 "}},
		{"<b>a<i>b</i>c</b>", "abc", []string{"bold 0 3 ", "italic 1 1 "}},
		{"<b>a<code>b</code>c</b>", "abc", []string{"bold 0 1 ", "code 1 1 ", "bold 2 1 "}},
		{"<pre>a<b>b</b></pre>", "ab", []string{"pre 0 2 "}},
		{`<a href="http://x.com"><code>y</code></a>`, "y", []string{"code 0 1 "}},
		{`<a href="http://x.com">z<code>y</code></a>`, "zy", []string{"text_link 0 2 http://x.com/"}},
		{"<blockquote>a<blockquote>b</blockquote></blockquote>", "ab", []string{"blockquote 0 2 "}},
		{"<blockquote>a<pre>b</pre></blockquote>", "ab", []string{"blockquote 0 2 ", "pre 1 1 "}},
		{"<pre>1</pre><pre>2</pre>", "12", []string{"pre 0 1 ", "pre 1 1 "}},
		{"see README.md and <code>main.rs</code>", "see README.md and main.rs", []string{"url 4 9 ", "code 18 7 "}},
		{"a\u202eb\u030a😀<b>c</b>", "ab😀c", []string{"bold 4 1 "}},
	} {
		text, es, err := Show(c.html)
		if err != nil || text != c.text || !slices.Equal(flat(es), c.want) {
			t.Errorf("%q: %q %q %v, want %q %q", c.html, text, flat(es), err, c.text, c.want)
		}
	}
}

func TestEntityOfCountsUTF16(t *testing.T) {
	if got := (Entity{Offset: 3, Length: 7}).Of("😀 @orebot hi"); got != "@orebot" {
		t.Errorf("got %q", got)
	}
	if got := (Entity{Offset: 5, Length: 70}).Of("😀"); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzParseHTML(f *testing.F) {
	for _, s := range []string{"<b>a</b>", "<a href='x.com'>&lt;", "&#x1F600;<pre><code class=\"language-go\">", "</", "<b a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, es, err := ParseHTML(s)
		if err == nil {
			checkEntities(t, text, es)
		}
		if text, es, err := Show(s); err == nil {
			checkEntities(t, text, es)
			checkNesting(t, text, es)
		}
		if !utf8.ValidString(s) {
			return
		}
		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
		if text, es, err := ParseHTML(escaped); err != nil || text != s || es != nil {
			t.Errorf("%q escaped: %q %v %v", s, text, es, err)
		}
		if text, _, err := ParseHTML("<b>" + html.EscapeString(s) + "</b>"); err != nil || text != s {
			t.Errorf("%q escaped in bold: %q %v", s, text, err)
		}
	})
}

func checkEntities(t *testing.T, text string, es []Entity) {
	t.Helper()
	total := units(text)
	for i, e := range es {
		if e.Offset < 0 || e.Length <= 0 || e.End() > total || i > 0 && e.Offset < es[i-1].Offset {
			t.Fatalf("entity %d of %q: %+v", i, text, es)
		}
	}
}

func checkNesting(t *testing.T, text string, es []Entity) {
	t.Helper()
	for i, a := range es {
		for _, b := range es[i+1:] {
			if b.Offset < a.End() && b.End() > a.End() || a.isCode() && b.Offset < a.End() {
				t.Fatalf("%q: %+v and %+v", text, a, b)
			}
		}
	}
}
