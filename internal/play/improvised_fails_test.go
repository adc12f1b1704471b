package play

import (
	"strings"
	"testing"
	"testing/synctest"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
)

// What an improvised play looks at in prompts is found where it is wrong, and only there.
func TestWrongIn(t *testing.T) {
	said := map[string]*saying{
		"w0001": {word: "w0001", a: "slack:T1/dm"}, "w0002": {word: "w0002", a: "slack:T1/dm", gone: 3}, "w0003": {word: "w0003", a: "slack:T1/C1/t1"},
	}
	turn := func(role ledger.Role, text string) ledger.Turn {
		return ledger.Turn{Role: role, Artifacts: []artifact.Artifact{artifact.Text{Content: text}}}
	}
	for name, c := range map[string]struct {
		act   int
		turns []ledger.Turn
		want  string
	}{
		"nothing wrong":    {9, []ledger.Turn{turn(ledger.RoleUser, "w0001"), turn(ledger.RoleAssistant, "a1")}, ""},
		"a fresh change":   {3, []ledger.Turn{turn(ledger.RoleUser, "w0002")}, ""},
		"gone":             {4, []ledger.Turn{turn(ledger.RoleUser, "w0002")}, "w0002 is gone since act 3"},
		"another place":    {9, []ledger.Turn{turn(ledger.RoleUser, "w0001"), turn(ledger.RoleUser, "w0003")}, "w0003 is of [slack:T1/C1/t1]"},
		"twice":            {9, []ledger.Turn{turn(ledger.RoleUser, "w0001"), turn(ledger.RoleUser, "[Ana]: w0001")}, "w0001 stands in a prompt twice"},
		"nobody's":         {9, []ledger.Turn{turn(ledger.RoleUser, "w0004")}, "nobody has said w0004"},
		"a model's system": {9, []ledger.Turn{turn(ledger.RoleSystem, "w0002 w0003 w0004")}, ""},
	} {
		if got := strings.Join(wrongIn(c.turns, said, c.act), "; "); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWrongSum(t *testing.T) {
	totals := func(waiting, heard, answered, noticed uint64) session.Totals {
		return session.Totals{Waiting: waiting, Heard: heard, Ended: map[session.End]uint64{session.EndAnswered: answered, session.EndNoticed: noticed}}
	}
	for _, c := range []struct {
		totals   session.Totals
		received int
		wrong    bool
	}{
		{totals(0, 1, 2, 3), 6, false}, {totals(0, 1, 2, 3), 7, true}, {totals(0, 1, 2, 3), 5, true}, {totals(1, 1, 2, 3), 6, true},
	} {
		if got := wrongSum(c.totals, c.received); (got != "") != c.wrong {
			t.Errorf("%+v of %d: %q", c.totals, c.received, got)
		}
	}
}

// showing is a post of a record.
func showing(seq ledger.Seq, offset int, kind conduit.Kind, text string) conduittest.Message {
	return conduittest.Message{Item: conduit.Item{Kind: kind, Turn: ledger.TurnID{Seq: seq}, Seq: seq}, Offset: offset, Text: text}
}

func TestWrongAt(t *testing.T) {
	for name, c := range map[string]struct {
		all  []conduittest.Message
		want string
	}{
		"in order":          {[]conduittest.Message{showing(2, 0, conduit.Answer, "a1"), showing(2, 5, conduit.Answer, "and more"), showing(4, 0, conduit.Answer, "a2")}, ""},
		"a part's note":     {[]conduittest.Message{showing(2, 5, conduit.Answer, "a1"), showing(2, -6, conduit.Notice, "missing")}, ""},
		"parts turned":      {[]conduittest.Message{showing(2, 5, conduit.Answer, "a1"), showing(2, 0, conduit.Answer, "b")}, `part 2.0 "b" comes behind`},
		"turns turned":      {[]conduittest.Message{showing(4, 0, conduit.Answer, "a1"), showing(2, 0, conduit.Answer, "b")}, `part 2.0 "b" comes behind`},
		"one part twice":    {[]conduittest.Message{showing(2, 0, conduit.Answer, "b"), showing(2, 0, conduit.Answer, "b")}, `part 2.0 "b" comes behind`},
		"two turns the one": {[]conduittest.Message{showing(2, 0, conduit.Answer, "a1"), showing(4, 0, conduit.Answer, "a1")}, "a1 is shown twice"},
		"told in a notice":  {[]conduittest.Message{showing(2, 0, conduit.Answer, "a1"), showing(4, 0, conduit.Notice, "a1")}, ""},
	} {
		if got := strings.Join(wrongAt(c.all), "; "); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A play in which something is wrong says so: what is broken on purpose stands among its faults.
func TestAnImprovisedPlayCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(im *improvised)
		want  string
	}{
		"an error in the log":   {func(im *improvised) { im.logger(im.life).Error("boom") }, "log: "},
		"a sign that stays":     {func(im *improvised) { im.visible["slack:T1/dm"] = session.Presence{Kind: "sign"} }, "still shows"},
		"a message unaccounted": {func(im *improvised) { im.fates["k"] = takenIn }, "1 messages were received"},
		"a message lost":        {func(im *improvised) { im.talks(t); im.fates = map[string]fate{} }, "0 messages were received"},
		"another taken twice": {func(im *improvised) {
			im.talks(t)
			im.cast.sent[0].in.Key = "other"
			im.fates["other"] = takenIn
			im.redeliver()
		}, "came again and is taken for another"},
		"an answer that isn't shown": {func(im *improvised) {
			im.chat.After = func(session.Address) error { return nil }
			im.talks(t)
		}, "was shown nothing of it"},
		"a host that isn't asked": {func(im *improvised) {
			im.rack = newRack(im.model)
			_, _ = im.chat.Post(t.Context(), "slack:T1/dm", conduit.Item{Kind: conduit.Notice},
				conduit.Part{Body: "The model server hasn't answered for 2 min."})
		}, "a model host is up all the time"},
		"a copy of what is gone": {func(im *improvised) {
			im.links = newLinks()
			im.acts++ // nothing moves in it
			im.said["w0001"] = &saying{word: "w0001", a: "slack:T1/C1/t1", gone: 1}
			_, _ = im.chat.Post(t.Context(), "slack:T1/dm", conduit.Item{Kind: conduit.Attributed}, conduit.Part{Body: "w0001"})
		}, "and still shown"},
		"a record that isn't delivered": {func(im *improvised) {
			im.links = newLinks()
			im.chat.Chance = func(session.Address) conduittest.Trouble {
				return conduittest.Trouble{Err: &conduit.Error{Class: conduit.Retry}}
			}
			im.talks(t)
		}, "it is behind: record 2"},
		"an answer that others were shown": {func(im *improvised) {
			im.links = newLinks()
			for i, a := range []session.Address{"slack:T1/dm", "slack:T1/C1/t1", "slack:T1/dm"} {
				it := conduit.Item{Kind: conduit.Answer, Thread: ledger.ThreadID{1}, Seq: ledger.Seq(i + 1)}
				_, _ = im.chat.Post(t.Context(), a, it, conduit.Part{Body: "b"})
			}
		}, "slack:T1/dm, beside slack:T1/C1/t1: between 1 and 3, 2 wasn't shown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				im, err := newImprovised(t, 1)
				if err != nil {
					t.Fatal(err)
				}
				defer im.close()
				if err := im.start(); err != nil {
					t.Fatal(err)
				}
				c.spoil(im)
				im.finish()
				im.judge()
				if faults, acted := im.read(); !strings.Contains(strings.Join(faults, "\n"), c.want) {
					t.Errorf("faults %q, want %q; what happened:\n%s", faults, c.want, strings.Join(acted, "\n"))
				}
			})
		})
	}
}

// talks lets somebody write one plain message to the bot.
func (im *improvised) talks(t *testing.T) {
	t.Helper()
	a, _ := im.address("dm")
	s := im.word(a)
	im.writes("ana", "dm", s.word, s, nil)
}
