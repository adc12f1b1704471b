package slash_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orebot/core/session"
	"orebot/core/slash"
)

const (
	amb = session.CallAmbient
	dir = session.CallDirect
	men = session.CallMention
	rep = session.CallReply
	cmd = session.CallCommand
)

func TestWhatIsACommand(t *testing.T) {
	c := slash.New(slash.Config{})
	for _, test := range []struct {
		call session.Call
		text string
		want string // name, a bar, arguments; empty: text
	}{
		{dir, "/help", "help|"},
		{dir, "!help", "help|"},
		{dir, "  /HELP  ", "help|"},
		{dir, "/commands", "help|"},
		{dir, "help", "help|"},
		{dir, "Help!", "help|"},
		{dir, "stop.", "stop|"},
		{dir, "cancel", "stop|"},
		{dir, "help me with Go", ""},
		{dir, "new", ""},
		{dir, "retry", ""},
		{dir, "status", ""},
		{men, "help", "help|"},
		{men, "new", "new|"},
		{men, "reset", "new|"},
		{men, "retry", "retry|"},
		{men, "status", "status|"},
		{men, "undo", ""},
		{men, "new ideas?", ""},
		{rep, "stop", ""},
		{amb, "stop", ""},
		{amb, "help", ""},
		{amb, "!stop", "stop|"},
		{amb, "!new", "new|"},
		{amb, "!new ideas for Friday", ""},
		{amb, "!model qwen3:8b", "model|qwen3:8b"},
		{amb, "!deploy", ""},
		{amb, "!hlep", ""},
		{men, "!new ideas", "new|ideas"},
		{dir, "/clear", "new|"}, {dir, "/restart", "new|"}, {dir, "/abort", "stop|"}, {dir, "/regenerate", "retry|"},
		{dir, "/redo", "retry|"}, {dir, "/again", "retry|"}, {dir, "/undo", "undo|"}, {dir, "/models", "models|"},
		{dir, "/persona be brief", "system|be brief"}, {dir, "/prompt reset", "system|reset"}, {dir, "/reasoning low", "think|low"},
		{dir, "/mute", "mute|"}, {dir, "/follow", "follow|"}, {dir, "/context", "status|"}, {dir, "/info", "status|"},
		{dir, "/tokens", "usage|"}, {dir, "/id", "whoami|"}, {dir, "/export", "export|"}, {dir, "/start abc", "start|abc"},
		{dir, "/system Line one\nline two", "system|Line one\nline two"},
		{dir, "/system\nTalk like a pirate", "system|Talk like a pirate"},
		{dir, "/etc/fstab is broken", ""},
		{dir, "/etc/fstab", ""},
		{dir, "/usr is full", ""},
		{dir, "/deploy", "?|deploy"},
		{dir, "/hlep me", "?|hlep"},
		{dir, "/retri", "?|retri"},
		{dir, "/hi there", ""},
		{dir, "/link", "link|"}, {dir, "/link 7q4k-93ad", "link|7q4k-93ad"}, {dir, "/link history 3", "link|history 3"}, {dir, "/unlink", "unlink|"},
		{dir, "/lnk", "?|lnk"}, {cmd, "/start 7Q4K93AD", "link|7Q4K93AD"}, {cmd, "/start@OreBot 7Q4K93AD", "link|7Q4K93AD"},
		{cmd, "/start hello", "start|hello"}, {cmd, "/start", "start|"},
		{dir, "/compact", "compact|"},
		{dir, "!important: read this", ""},
		{dir, "!!!", ""},
		{dir, "/", ""},
		{dir, "//", ""},
		{dir, "", ""},
		{dir, "!(a && b)", ""},
		{dir, "/4 of them", ""},
		{dir, "/stopp", "?|stopp"},
		{dir, "/нет", ""},
		{cmd, "/help@the_bot", "help|"},
		{cmd, "/model@the_bot qwen3:8b", "model|qwen3:8b"},
		{dir, "/help@other_bot", ""},
		{cmd, "model qwen3:8b", "model|qwen3:8b"},
		{cmd, "/what is the time", ""},
		{cmd, "/MODEL@OreBot  x", "model|x"},
		{dir, "stop!!", "stop|"}, {dir, "STOP", "stop|"}, {men, " Stop. ", "stop|"}, {dir, "stop?", ""}, {dir, "stop it", ""},
		{dir, "\uff0fstop", ""}, {dir, "\uff01stop", ""}, {dir, "\uff53\uff54\uff4f\uff50", ""}, // full width
		{dir, "/st\u043ep", ""}, {dir, "/\u200bstop", ""}, {dir, "!ѕtop", ""}, // look-alikes
		{dir, "`/stop`", ""}, {dir, "```\n/stop\n```", ""}, {dir, "> /stop", ""}, {dir, "please /stop", ""},
		{dir, "/system " + strings.Repeat("é", 4000), "system|" + strings.Repeat("é", 4000)},
		{dir, "/" + strings.Repeat("stop", 1000), ""}, {dir, "/stop\u00a0", "stop|"}, {dir, "/model\u00a0x", "model|x"},
	} {
		in := session.Inbound{Text: test.text, Call: test.call}
		name, args, ok := c.Parse(in)
		got := ""
		if ok {
			got = name + "|" + args
		}
		if got != test.want {
			t.Errorf("%s %q: got %q, want %q", test.call, test.text, got, test.want)
		}
	}
}

func TestOddMessagesAreNoCommands(t *testing.T) {
	c := slash.New(slash.Config{})
	for what, in := range map[string]session.Inbound{
		"an edit":             {Text: "/stop", Call: dir, Signal: session.SignalEdit},
		"a deletion":          {Text: "/stop", Call: dir, Signal: session.SignalDelete},
		"a word with a file":  {Text: "help", Call: dir, Attachments: []session.Attachment{{ID: "1"}}},
		"a forwarded word":    {Text: "stop", Call: dir, Quotes: []session.Quote{{Kind: session.QuoteForward}}},
		"a button of nothing": {Action: "no such", Signal: session.SignalButton, Call: dir},
	} {
		if name, args, ok := c.Parse(in); ok && name != "?" {
			t.Errorf("%s is the command %s %s", what, name, args)
		}
	}
	if name, _, ok := c.Parse(session.Inbound{Action: "retry", Signal: session.SignalButton}); !ok || name != "retry" {
		t.Errorf("a button is %q, %v", name, ok)
	}
	if name, args, _ := c.Parse(session.Inbound{Text: "/what is the time", Call: cmd, ReplyURL: "https://hooks"}); name != "?" || args != "what" {
		t.Errorf("what Slack registered and nobody knows is %q %q", name, args)
	}
}

// A thread that the bot follows is for it like a private chat, so that a command is one there, whatever stands behind its name.
func TestCommandsInAFollowedThread(t *testing.T) {
	c := slash.New(slash.Config{})
	for text, want := range map[string]string{
		"!stop that, please": "stop|that, please", "!new ideas for Friday": "new|ideas for Friday", "!retry": "retry|", "!hlep": "?|hlep",
		"stop": "", "!important: read this": "", "/etc/fstab is broken": "",
	} {
		name, args, ok := c.Parse(session.Inbound{Text: text, Call: amb, Followed: true})
		if got := strings.TrimSuffix(name+"|"+args, "|"); got != strings.TrimSuffix(want, "|") || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestMenu(t *testing.T) {
	if n := len(slash.Menu(true)); n != 10 {
		t.Errorf("%d commands in private, want 10", n)
	}
	if n := len(slash.Menu(false)); n != 4 {
		t.Errorf("%d commands in groups, want 4", n)
	}
	for _, e := range slash.Menu(true) {
		if e.Name == "" || e.Line == "" || strings.Contains(e.Line, "\n") || len(e.Line) > 256 {
			t.Errorf("%+v", e)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/help", "!stop now", "/etc/fstab is broken", "/system a\nb", "help", "/help@bot", "/\xff", "! help"} {
		f.Add(s, uint8(1), false)
	}
	c := slash.New(slash.Config{})
	f.Fuzz(func(t *testing.T, text string, call uint8, url bool) {
		in := session.Inbound{Text: text, Call: session.Call(call % 5)}
		if url {
			in.ReplyURL = "https://hooks"
		}
		name, args, ok := c.Parse(in)
		switch {
		case !ok && (name != "" || args != ""):
			t.Errorf("no command, but %q %q", name, args)
		case ok && name == "":
			t.Error("a command without a name")
		case ok && (!strings.Contains(text, args) && name != "?" || utf8.ValidString(text) && !utf8.ValidString(args)):
			t.Errorf("%q has the arguments %q", text, args)
		}
		if again, _, ok2 := c.Parse(in); again != name || ok2 != ok {
			t.Error("read twice, it is something else")
		}
	})
}
