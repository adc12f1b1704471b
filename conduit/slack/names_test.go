package slack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

func TestMentionedIn(t *testing.T) {
	for text, want := range map[string][]string{
		"<@U2> and <@U3|cy> and <@UBOT>, <@U2>": {"U2"}, "": nil, "<@": nil, "<@U2": nil, "<@U2\n>": nil, "<<@U2>": {"U2"},
		"<@W1>&lt;@U9&gt;<@u x><@>": {"W1"}, "<https://x|<@U2>>": {"U2"},
	} {
		if got := mentionedIn(nil, text, me); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "<@U%d>", i)
	}
	if got := mentionedIn(nil, many.String(), me); len(got) != maxMentions {
		t.Errorf("%d looked up", len(got))
	}
}

func TestPutName(t *testing.T) {
	for text, want := range map[string]string{
		"@U1, @U12 @U1": "@ann, @U12 @ann", "": "", "@U1": "@ann", "x@U1_": "x@U1_", "漢@U1字": "漢@ann字", "U1": "U1",
	} {
		if got := putName(text, "U1", "ann"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for name, want := range map[string]string{
		" Ann\n\tB. ": "Ann B.", "\u202egnp.exe": "gnp.exe", "a\x00\x1bb": "ab", "": "", strings.Repeat("ä", 100): strings.Repeat("ä", 80) + "…",
	} {
		if got := oneLine(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNamesReachTheModel: who is mentioned stands there by name, looked up once; who can't be looked up stays an id, and nothing waits.
// Fact A2.17.
func TestNamesReachTheModel(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, ben := r.AddUser("ann"), r.AddUser("Ben\nB.")
		dm := r.OpenDM(ann)
		r.say(ann, dm, "ask <@"+ben+"> & <@U404>", simslack.Raw())
		r.say(ann, dm, "ask <@"+ben+">", simslack.Raw())
		r.wantPrompts("ask @Ben B. & @U404", "ask @Ben B.")
		if n := len(r.Calls("users.info")); n != 3 {
			t.Errorf("%d look-ups of three people", n)
		}
	})
}

// TestNamesDontHang: a look-up that hangs costs seconds, not the answer. Fact A6.4.
func TestNamesDontHang(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		r.Faults.Next("users.info", fault.Fault{Hang: true}, fault.Fault{Hang: true})
		in := session.Inbound{Text: "@U1 x", Mentions: []string{"U1", "U2"}, Author: session.Author{ID: "slack:U3"}}
		begin := time.Now()
		if got := r.api.Names(t.Context(), in); got.Text != in.Text || len(got.Mentions) != 2 || time.Since(begin) > namesTime+time.Second {
			t.Errorf("%+v after %v", got, time.Since(begin))
		}
	})
}
