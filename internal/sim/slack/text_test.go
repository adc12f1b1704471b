package slack

import (
	"fmt"
	"testing"
)

func TestTyped(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	u := s.AddUser("al")
	for in, want := range map[string]string{
		"a < b & c > d":                    "a &lt; b &amp; c &gt; d",
		"@orebot hi":                       "<@UBOT> hi",
		"(@al), mail@al":                   "(<@" + u + ">), mail@al",
		"@nobody":                          "@nobody",
		"<@UBOT> <!here> <#C1|x> <b>":      "<@UBOT> <!here> <#C1|x> &lt;b&gt;",
		"see https://x.example/a?b=1&c=2.": "see <https://x.example/a?b=1&amp;c=2>.",
		"<https://x.example|label> 日本":     "<https://x.example|label> 日本",
		"&lt;":                             "&amp;lt;",
	} {
		if got := s.world.typed(in); got != want {
			t.Errorf("typed %q: got %q, want %q", in, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	s.AddUser("al")
	s.AddChannel("general")
	for in, want := range map[string]string{
		"&amp;lt; &lt;b&gt;":                   "&lt; <b>",
		"<@U1> <@U9|zoe> <@U8> <#C1> <#C2|y>":  "@al zoe @U8 #general y",
		"<!channel> <!subteam^S1|@ops>":        "@channel @ops",
		"<https://x.example|x> <mailto:a@b.c>": "x a@b.c",
	} {
		if got := s.world.shown(in); got != want {
			t.Errorf("shown %q: got %q, want %q", in, got, want)
		}
	}
}

func TestMarkdownCodePingsNobody(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	blocks := encode([]object{{"type": "markdown", "text": "<!here> `<!channel>`\n```\n<@U1>\n```\n<@U2>"}})
	if _, pings := s.world.view("", blocks); fmt.Sprint(pings) != "[!here @U2]" {
		t.Errorf("pings %v", pings)
	}
}
