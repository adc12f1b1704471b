package slack

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// me is the bot of the tests.
var me = identity{team: "T1", user: "UBOT", bot: "BBOT", name: "orebot"}

// TestReadText: facts A2.16, A2.17.
func TestReadText(t *testing.T) { // case 18: the token zoo
	for in, want := range map[string]string{
		"":                             "",
		"a &lt; b &amp;&amp; c &gt; d": "a < b && c > d",
		"&amp;lt; &amp;amp;":           "&lt; &amp;",
		"&quot; &#60;":                 "&quot; &#60;",
		"<@U2> and <@U2|ben>":          "@U2 and @ben",
		"<@W2|@ben>":                   "@ben",
		"hey <@UBOT>, go":              "hey @orebot, go",
		"<#C1> <#C1|dev> <#C1|>":       "#C1 #dev #C1",
		"<!here> <!channel> <!everyone|everyone>":               "@here @channel @everyone",
		"<!subteam^S1|@team> <!subteam^S1>":                     "@team @S1",
		"<!date^1392734382^{date}|Feb 18> <!date^1392734382^x>": "Feb 18 1392734382",
		"<!new^thing|label>":                                    "@label",
		"<https://example.com>":                                 "https://example.com",
		"<https://example.com/?a=1&amp;b=2>":                    "https://example.com/?a=1&b=2",
		"<https://example.com|the page>":                        "the page (https://example.com)",
		"<http://example.com|example.com>":                      "http://example.com",
		"<https://example.com/|https://example.com>":            "https://example.com/",
		"<https://x.y|a &lt;b&gt; | c>":                         "a <b> | c (https://x.y)",
		"<mailto:a@b.c|a@b.c>":                                  "a@b.c",
		"<mailto:a@b.c|Ann>":                                    "Ann (a@b.c)",
		"<tel:+41|+41>":                                         "+41",
		"a < b":                                                 "a < b",
		"<unclosed &amp; more":                                  "<unclosed & more",
		"<>":                                                    "<>",
		"<a\nb>":                                                "<a\nb>",
		"<<@U2>":                                                "<@U2",
		"漢字<@U2>です👩‍👩‍👧":                                        "漢字@U2です👩‍👩‍👧",
		"```\nif a &lt; b {\n```":                               "```\nif a < b {\n```",
	} {
		if got := readText(in, me); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestStripCall(t *testing.T) {
	for in, want := range map[string]string{
		"<@UBOT> hi":           "hi",
		"  <@UBOT|orebot>: hi": "hi",
		"<@UBOT>, <@UBOT> hi":  "hi",
		"<@UBOT>":              "",
		"hi <@UBOT>":           "hi <@UBOT>",
		"<@UBOT2> hi":          "<@UBOT2> hi",
		"<@U2> <@UBOT> hi":     "<@U2> <@UBOT> hi",
		"plain":                "plain",
		" indented":            " indented",
		"":                     "",
	} {
		if got := stripCall(in, "UBOT"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzReadText: what a person typed comes back as it was, whatever it looks like, and nothing else is ever invented. Fact A2.16.
func FuzzReadText(f *testing.F) {
	for _, s := range []string{"", "a < b && c", "<@U1|x>", "&lt;", "<!date^1^|>", "<https://x|y>", "<", ">", "<|>", "<@>", "<!>", "<#|>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := readText(escaper.Replace(s), me); got != s {
			t.Errorf("typed %q, read %q", s, got)
		}
		got := readText(s, me)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q: %q is no UTF-8", s, got)
		}
		if len(got) > 2*len(s)+len(me.name)*strings.Count(s, "<@UBOT") {
			t.Errorf("%q: %q", s, got)
		}
		if rest := stripCall(s, "UBOT"); !strings.HasSuffix(s, rest) {
			t.Errorf("%q: stripped to %q", s, rest)
		}
	})
}
