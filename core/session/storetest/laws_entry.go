package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"orebot/core/session"
)

// entryLaws are about entries.
func entryLaws() []law {
	return []law{
		{"an entry comes back as it was", entryRoundTrip},
		{"waiting entries come by order", waiting},
		{"entries of an address are listed by key", entriesAt},
		{"heard entries come by order until they are used", heardList},
		{"signals wait, and are counted apart", signals},
		{"the totals add up", totals},
	}
}

func entryRoundTrip(f *fixture) {
	e := message(home, "T1/D1/1.0", "1.0")
	e.Inbound.Attachments = []session.Attachment{{ID: "F1", Name: "a.png", MIME: "image/png", Size: 3, URL: "https://x/y"}}
	e.Inbound.Signal, e.Inbound.Target, e.Inbound.Group = session.SignalEdit, "0.9", "g"
	e.Inbound.SettleFor, e.Inbound.ReplyURL = time.Second, "https://hooks/1"
	e.State, e.Thread, e.Turn, e.Failures, e.Starts = session.EntrySubmitted, threadNo(1), 4, 2, 3
	e.Refusal, e.Inbound.Text = "no", strings.Repeat("long ", 3000)
	r := f.must(accept(e))
	f.reopen()
	got, ok, err := f.Store.Entry(f.Context(), e.ID)
	f.ok(err)
	if want := (session.StoredEntry{Entry: e, Rev: r.Rev}); !ok || !reflect.DeepEqual(got, want) {
		f.Errorf("entry\n got %+v\nwant %+v", got, want)
	}
	_, ok, err = f.Store.Entry(f.Context(), session.EntryID{Address: home, Key: "T1/D1/1"})
	f.ok(err)
	if ok {
		f.Error("a shorter key finds the entry")
	}
}

func (f *fixture) waitingKeys(a session.Address) []string {
	f.Helper()
	list, err := f.Store.Waiting(f.Context(), a)
	f.ok(err)
	keys := make([]string, 0, len(list))
	for _, e := range list {
		keys = append(keys, e.ID.Key)
	}
	return keys
}

func (f *fixture) waits(a session.Address, want ...string) {
	f.Helper()
	if got := f.waitingKeys(a); !reflect.DeepEqual(got, append([]string{}, want...)) {
		f.Errorf("waiting at %s: %v, want %v", a, got, want)
	}
}

func waiting(f *fixture) {
	f.waits(home)
	first, second, third := message(home, "k9", "10"), message(home, "k1", "20"), message(home, "k5", "30")
	for _, e := range []session.Entry{third, first, second, message(other, "x", "15"), message(home+"/1", "y", "15")} {
		f.must(accept(e))
	}
	heard := message(home, "k0", "05")
	heard.State = session.EntryHeard
	f.must(accept(heard))
	f.must(accept(ended(message(home, "k2", "06"), session.EndRefused)))
	f.waits(home, "k9", "k1", "k5")
	e, _, err := f.Store.Entry(f.Context(), second.ID)
	f.ok(err)
	second.State = session.EntrySubmitted
	r := f.must(change(second, e.Rev))
	f.waits(home, "k9", "k1", "k5")
	f.must(change(ended(second, session.EndAnswered), r.Rev))
	f.waits(home, "k9", "k5")
	e, _, err = f.Store.Entry(f.Context(), third.ID)
	f.ok(err)
	third.Inbound.Order = "01" // as if the platform had renumbered it
	f.must(change(third, e.Rev))
	f.waits(home, "k5", "k9")
	f.reopen()
	f.waits(home, "k5", "k9")
	f.waits(other, "x")
}

func heard(a session.Address, key, order string) session.Entry {
	e := message(a, key, order)
	e.State = session.EntryHeard
	return e
}

func (f *fixture) heardKeys(limit int, want ...string) {
	f.Helper()
	list, err := f.Store.Heard(f.Context(), home, limit)
	f.ok(err)
	got := []string{}
	for _, e := range list {
		got = append(got, e.ID.Key)
	}
	if !reflect.DeepEqual(got, append([]string{}, want...)) {
		f.Errorf("heard, up to %d: %v, want %v", limit, got, want)
	}
}

func heardList(f *fixture) {
	f.heardKeys(9)
	revs := map[string]session.Revision{}
	for _, e := range []session.Entry{heard(home, "k9", "10"), heard(home, "k1", "20"), heard(home, "k5", "30"), heard(home, "k0", "05"),
		heard(other, "x", "15"), heard(home+"/1", "y", "15"), message(home, "k2", "25")} {
		revs[e.ID.Key] = f.must(accept(e)).Rev
	}
	f.heardKeys(9, "k0", "k9", "k1", "k5")
	f.heardKeys(2, "k1", "k5")
	f.heardKeys(0)
	used := heard(home, "k1", "20")
	used.State = session.EntryUsed
	f.must(change(used, revs["k1"]))
	f.must(change(message(home, "k9", "10"), revs["k9"])) // an edit that calls makes a message of it
	f.must(change(heard(home, "k5", "01"), revs["k5"]))
	f.reopen()
	f.heardKeys(9, "k5", "k0")
	f.waits(home, "k9", "k2")
	f.totals(session.Totals{Ended: map[session.End]uint64{}, Waiting: 2, Heard: 5})
}

func signals(f *fixture) {
	s := message(home, "k1/edit", "10")
	s.State = session.EntrySignal
	r := f.must(accept(s))
	f.must(accept(message(home, "k1", "10")))
	f.waits(home, "k1", "k1/edit")
	f.totals(session.Totals{Ended: map[session.End]uint64{}, Waiting: 1, Signals: 1})
	s.State = session.EntryApplied
	b := change(s, r.Rev)
	b.Entries[0].Expires = noon()
	f.must(b)
	claimed := message(home, "k2", "20")
	claimed.State = session.EntryApplied
	f.must(accept(claimed))
	f.reopen()
	f.waits(home, "k1")
	f.totals(session.Totals{Ended: map[session.End]uint64{}, Waiting: 1, Signals: 2})
	f.conflict(accept(message(home, "k2", "20")))
}

func entriesAt(f *fixture) {
	var want []string
	for i := range 12 {
		e := message(home, fmt.Sprintf("k%02d", i), "1")
		if i == 5 {
			e.Inbound.Text = strings.Repeat("long ", 5000)
		}
		if i%2 == 0 {
			e = ended(e, session.EndNoticed)
		}
		want = append(want, e.ID.Key)
		f.must(accept(e))
	}
	f.must(accept(message(home+"/1", "k99", "1")))
	f.must(accept(message("slack:T1/D0", "k99", "1")))
	for _, limit := range []int{0, 1, 7, 12, 100} {
		list, err := f.Store.EntriesAt(f.Context(), home, limit)
		f.ok(err)
		got := make([]string, 0, len(list))
		for _, e := range list {
			got = append(got, e.ID.Key)
		}
		if w := want[max(0, len(want)-limit):]; !reflect.DeepEqual(got, append([]string{}, w...)) {
			f.Errorf("up to %d: %v, want %v", limit, got, w)
		}
	}
}

func totals(f *fixture) {
	states := []func(session.Entry) session.Entry{
		func(e session.Entry) session.Entry { return e },
		func(e session.Entry) session.Entry { e.State = session.EntrySubmitted; return e },
		func(e session.Entry) session.Entry { e.State = session.EntryHeard; return e },
		func(e session.Entry) session.Entry { return ended(e, session.EndAnswered) },
		func(e session.Entry) session.Entry { return ended(e, session.EndRefused) },
	}
	for i := range 20 {
		f.must(accept(states[i%5](message(home, fmt.Sprint(i), "1"))))
	}
	f.totals(session.Totals{Waiting: 8, Heard: 4, Ended: map[session.End]uint64{session.EndAnswered: 4, session.EndRefused: 4}})
	e, _, err := f.Store.Entry(f.Context(), session.EntryID{Address: home, Key: "0"})
	f.ok(err)
	f.must(change(ended(e.Entry, session.EndWithdrawn), e.Rev))
	f.conflict(change(ended(e.Entry, session.EndWithdrawn), e.Rev))
	f.reopen()
	f.totals(session.Totals{Waiting: 7, Heard: 4, Ended: map[session.End]uint64{
		session.EndAnswered: 4, session.EndRefused: 4, session.EndWithdrawn: 1,
	}})
}

func (f *fixture) totals(want session.Totals) {
	f.Helper()
	got, err := f.Store.Totals(f.Context())
	f.ok(err)
	if !reflect.DeepEqual(got, want) {
		f.Errorf("totals %+v, want %+v", got, want)
	}
}
