package slack

import (
	"errors"
	"slices"
	"testing"

	"orebot/conduit"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// Whose a DM is, Slack is asked once; of a channel nothing is asked. What Slack doesn't tell is an error, and asked again.
func TestReaders(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ana := r.AddUser("ana")
		dm, channel := r.OpenDM(ana), r.AddChannel("general", ana, "UBOT")
		where := func(p place) session.Address { p.team = "T1"; return p.address() }
		const info = "conversations.info"
		asked := len(r.Calls(info))
		r.Faults.Next(info, fault.Fault{Status: 500}, fault.Fault{Body: `{"ok":true,"channel":{"id":"D1","is_im":true}}`, Status: 200})
		for range 2 {
			if who, places, err := r.api.Readers(t.Context(), where(place{channel: dm})); err == nil {
				t.Errorf("%q, %q", who, places)
			}
		}
		for _, c := range []struct {
			at    place
			who   string
			place []string
			asked int // calls so far
		}{
			{place{channel: channel, thread: "1712345678.000100"}, "", []string{"slack:" + channel}, 2},
			{place{channel: dm}, "slack:" + ana, nil, 3},
			{place{channel: dm, thread: "1712345678.000100"}, "slack:" + ana, nil, 3},
		} {
			who, places, err := r.api.Readers(t.Context(), where(c.at))
			if err != nil || who != c.who || !slices.Equal(places, c.place) || len(r.Calls(info))-asked != c.asked {
				t.Errorf("%v: %q, %q, %v, asked %d times", c.at, who, places, err, len(r.Calls(info))-asked)
			}
		}
		r.api.dms.add(channel) // it was taken for one
		if who, places, err := r.api.Readers(t.Context(), where(place{channel: channel})); err != nil || who != "" || len(places) != 1 {
			t.Errorf("%q, %q, %v", who, places, err)
		}
		if _, _, err := r.api.Readers(t.Context(), "telegram:8"); err == nil {
			t.Error("another platform's address has readers")
		}
	})
}

// Where Slack won't tell whose a DM is, it isn't asked again and again while others wait; a hiccup isn't taken for that.
func TestReadersThatSlackWontTellOf(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		a := place{team: "T1", channel: r.OpenDM(r.AddUser("ana"))}.address()
		for code, forGood := range map[string]bool{"missing_scope": true, "channel_not_found": true, "internal_error": false, "ratelimited": false, "invalid_auth": false} {
			r.Faults.Next("conversations.info", fault.Fault{Status: 200, Body: `{"ok":false,"error":"` + code + `"}`})
			_, _, err := r.api.Readers(t.Context(), a)
			var e *conduit.Error
			if err == nil || errors.As(err, &e) != forGood || forGood && e.Class != conduit.Gone {
				t.Errorf("%s: %v", code, err)
			}
		}
	})
}

// Whose a DM is, the list at start tells, and nothing that comes later makes it forgotten.
func TestWhoseADMIs(t *testing.T) {
	var d dms
	d.add("D1")
	d.note("D1", "U1")
	d.add("D1")
	d.note("D1", "no id")
	d.note("no id", "U1")
	if !d.has("D1") || d.with("D1") != "U1" || d.with("D2") != "" || d.has("no id") {
		t.Errorf("%+v", d.ids)
	}
}
