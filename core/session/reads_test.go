package session_test

import (
	"context"
	"errors"
	"testing"

	"orebot/core/access"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// readers knows whose the tests' addresses are.
type readers struct{ down bool }

func (r readers) Readers(_ context.Context, a session.Address) (who string, places []string, err error) {
	switch {
	case r.down:
		return "", nil, errors.New("no answer")
	case a == group:
		return "", []string{"telegram:-5", "telegram:-100"}, nil
	case a == tg:
		return "telegram:8", nil, nil
	}
	return "slack:U1", nil, nil
}

// Who may be shown what was said elsewhere is who would be answered now; what answers a message of their own, whoever isn't turned away
// by what is known.
func TestWhoReads(t *testing.T) {
	revoked := func(ids ...string) *access.Book {
		b := access.NewBook()
		for _, id := range ids {
			b.Put(id, access.Revoked)
		}
		return b
	}
	mine := &session.Inbound{Address: dm, Author: session.Author{ID: "slack:U1"}}
	inGroup := &session.Inbound{Address: group, Place: "telegram:-100", Author: session.Author{ID: "telegram:9"}}
	members, open := access.Policy{Mode: access.Members, AnyPlace: true}, access.Policy{Mode: access.Open, AnyPlace: true}
	with := func(p access.Policy, b *access.Book) access.Policy { p.Book = b; return p }
	guest := map[string]bool{"slack:U1": true}
	for name, c := range map[string]struct {
		at     session.Address
		asked  *session.Inbound
		policy access.Policy
		guests map[string]bool
		down   bool
		want   bool
		err    bool
	}{
		"a member":                                 {at: dm, policy: members, want: true},
		"a guest":                                  {at: dm, policy: members, guests: guest},
		"a guest who asked":                        {at: dm, asked: mine, policy: members, guests: guest, want: true},
		"somebody of whom nobody can tell":         {at: dm, policy: members, down: true, err: true},
		"who asked, where nobody can tell":         {at: dm, asked: mine, policy: members, down: true, want: true},
		"access taken back":                        {at: dm, policy: with(members, revoked("slack:U1"))},
		"access taken back from who asked":         {at: dm, asked: mine, policy: with(members, revoked("slack:U1"))},
		"access taken back from somebody else":     {at: dm, policy: with(members, revoked("slack:U2")), want: true},
		"on the list":                              {at: tg, policy: access.Policy{Users: []string{"telegram:8"}}, want: true},
		"on the list, whatever was decided since":  {at: tg, policy: access.Policy{Users: []string{"telegram:8"}, Book: revoked("telegram:8")}, want: true},
		"not on the list":                          {at: tg, policy: access.Policy{}},
		"who asked isn't on the list any more":     {at: dm, asked: mine, policy: access.Policy{}},
		"a stranger":                               {at: tg, policy: access.Policy{Mode: access.Pairing}},
		"a group":                                  {at: group, policy: open, want: true},
		"a group by its first name":                {at: group, policy: access.Policy{Places: []string{"telegram:-5"}}, want: true},
		"a group that isn't listed":                {at: group, policy: access.Policy{Mode: access.Open}},
		"a group turned away by its present name":  {at: group, policy: with(open, revoked("telegram:-100"))},
		"a group turned away by its first name":    {at: group, policy: with(open, revoked("telegram:-5"))},
		"who asked in a group that is turned away": {at: group, asked: inGroup, policy: with(open, revoked("telegram:-100"))},
		"who asked in a group by its second name":  {at: group, asked: inGroup, policy: access.Policy{Places: []string{"telegram:-5"}}, want: true},
		"who asked in a group that isn't listed":   {at: group, asked: inGroup, policy: access.Policy{Mode: access.Open}},
		"in such a group, where nobody can tell":   {at: group, asked: inGroup, policy: access.Policy{Mode: access.Open}, down: true},
		"a stranger who asked in a group":          {at: group, asked: inGroup, policy: with(open, revoked("telegram:9")), want: true},
		"another platform's":                       {at: "matrix:1", policy: members, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := session.Platform{Policy: c.policy, Readers: readers{c.down}, People: guests(c.guests)}
			mem := storetest.NewMemory()
			m := session.New(session.Config{Store: mem, Platforms: map[string]session.Platform{"slack": p, "telegram": p}})
			if got, err := m.Reads(t.Context(), c.at, c.asked); got != c.want || (err != nil) != c.err {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// guests knows who is one.
type guests map[string]bool

func (g guests) Person(_ context.Context, _ session.Address, who session.Author) (session.Author, error) {
	who.Known, who.Guest = true, g[who.ID]
	return who, nil
}

// Every line that a conversation of one place is told names a message of that place: nobody else's business is told there.
func TestLinesNameWhatTheyAreAbout(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		file := func(in *session.Inbound) { in.Attachments = []session.Attachment{{ID: "f", Name: "t.xlsx"}} }
		b.speak(dm, "what is this?", file)
		b.speak(dm, "!new and now?")
		b.speak(dm, "!status")
		st := at(t, mem, dm)
		lines := 0
		for _, id := range append(st.Binding.Back, st.Binding.Thread) {
			recs, err := mem.Log(t.Context(), id, 1, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range recs {
				if r.End == nil {
					continue
				}
				if lines++; len(r.End.Entries) == 0 && r.End.Of.Address != dm {
					t.Errorf("%q is about %v", r.End.Text, r.End.Of)
				}
			}
		}
		if lines != 3 {
			t.Errorf("%d lines", lines)
		}
		b.stopLife()
	})
}

// A line that tells somebody of their access is for them whatever has become of that; no other line is.
func TestLinesForWhoIsTurnedAway(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"), func(c *session.Config) {
			c.Platforms["telegram"] = session.Platform{Policy: access.Policy{Users: []string{"telegram:8"}}, Prefix: "/"}
		})
		b.speak(tg, "/whoami")
		b.speak(tg, "let me in", func(in *session.Inbound) { in.Author.ID = "telegram:9" })
		want := []bool{false, true}
		st := at(t, mem, tg)
		recs, err := mem.Log(t.Context(), st.Binding.Thread, 1, 10)
		if err != nil || len(recs) != len(want) {
			t.Fatalf("%+v, %v", recs, err)
		}
		for i, r := range recs {
			if r.End.Always != want[i] {
				t.Errorf("%q: %v", r.End.Text, r.End.Always)
			}
		}
		b.stopLife()
	})
}
