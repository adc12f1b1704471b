package play

import (
	"strings"
	"testing"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
)

// What an improvised play looks at in copies of others' questions is found where it is wrong, and only there.
func TestWrongCopies(t *testing.T) {
	said := map[string]*saying{"w0001": {a: "slack:T1/dm"}, "w0002": {a: "telegram:8"}, "w0003": {a: "telegram:8", gone: 3}}
	copied := func(id, text string) conduittest.Message {
		m := showing(2, 0, conduit.Attributed, text)
		m.ID = id
		return m
	}
	for name, c := range map[string]struct {
		now  []conduittest.Message
		want string
	}{
		"nothing wrong":       {[]conduittest.Message{copied("m1", "w0002")}, ""},
		"nobody's":            {[]conduittest.Message{copied("m1", "w0004")}, "nobody has said w0004"},
		"one's own":           {[]conduittest.Message{copied("m1", "w0001")}, "w0001 was written here"},
		"twice":               {[]conduittest.Message{copied("m1", "w0002"), copied("m2", "w0002")}, "w0002 is told twice"},
		"repeated":            {[]conduittest.Message{copied("m1", "w0002"), copied("m2", conduittest.RepeatLabel+" w0002")}, ""},
		"gone":                {[]conduittest.Message{copied("m1", "w0003")}, "w0003 is gone since act 3"},
		"gone, but has moved": {[]conduittest.Message{copied("m2", "w0003")}, ""},
		"in an answer":        {[]conduittest.Message{showing(2, 0, conduit.Answer, "w0001")}, ""},
	} {
		got := strings.Join(wrongCopies("slack:T1/dm", c.now, said, map[string]bool{"m1": true}), "; ")
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWrongGaps(t *testing.T) {
	answer := func(seq ledger.Seq) conduittest.Message { return showing(seq, 0, conduit.Answer, "a") }
	other := answer(4)
	other.Item.Thread = ledger.ThreadID{1}
	for name, c := range map[string]struct {
		here, there []conduittest.Message
		wrong       bool
	}{
		"the same":          {[]conduittest.Message{answer(2), answer(4), answer(6)}, []conduittest.Message{answer(2), answer(4), answer(6)}, false},
		"a gap":             {[]conduittest.Message{answer(2), answer(6)}, []conduittest.Message{answer(4)}, true},
		"of another thread": {[]conduittest.Message{answer(2), answer(6)}, []conduittest.Message{other}, false},
		"of a notice":       {[]conduittest.Message{answer(2), answer(6)}, []conduittest.Message{showing(4, 0, conduit.Notice, "a")}, false},
		"before a link": {[]conduittest.Message{answer(2), showing(6, 0, conduit.Notice, "Linked with the conversation of Ana.")},
			[]conduittest.Message{answer(4)}, false},
		"before and behind": {[]conduittest.Message{answer(4)}, []conduittest.Message{answer(2), answer(6)}, false},
	} {
		if got := wrongGaps(c.here, c.there); (len(got) > 0) != c.wrong {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWrongDue(t *testing.T) {
	before := session.Binding{Leg: 1, Before: []session.Leg{{Thread: ledger.ThreadID{1}}}}
	for name, c := range map[string]struct {
		st    session.AddressState
		last  ledger.Seq
		wrong bool
	}{
		"nothing due":           {session.AddressState{Cursor: session.Cursor{Seq: 5}}, 9, false},
		"a record":              {session.AddressState{Due: 5, Cursor: session.Cursor{Seq: 5}}, 5, true},
		"one that isn't there":  {session.AddressState{Due: 6, Cursor: session.Cursor{Seq: 6}}, 5, false},
		"of a conversation ago": {session.AddressState{Binding: before, Due: 6, Cursor: session.Cursor{Seq: 6}}, 5, true},
	} {
		if got := wrongDue(c.st, session.Thread{Last: c.last}); (got != "") != c.wrong {
			t.Errorf("%s: %q", name, got)
		}
	}
}
