package bolt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
)

func expiring(e session.Entry, rev session.Revision, at time.Time) session.Batch {
	b := putting(e, rev)
	b.Entries[0].Expires = at
	return b
}

func sweep(t *testing.T, s *Store, now time.Time, want int) {
	t.Helper()
	if n, err := s.Sweep(t.Context(), now); err != nil || n != want {
		t.Errorf("sweep at %v: %d, %v, want %d", now, n, err, want)
	}
}

func TestSweepForgetsWhatHasExpiredAndKeepsTheTotals(t *testing.T) {
	s := fresh(t)
	const each = 300
	ended, open := session.Batch{ID: session.NewBatchID()}, session.Batch{ID: session.NewBatchID()}
	for i := range each {
		early := noon().Add(time.Duration(i%3) * time.Minute)
		e, o := entry(fmt.Sprintf("answered%d", i), session.EntryEnded, session.EndAnswered), entry(fmt.Sprintf("waits%d", i), 0, 0)
		ended.Entries = append(ended.Entries, session.EntryWrite{Entry: e, Expires: early})
		open.Entries = append(open.Entries, session.EntryWrite{Entry: o, Expires: early})
	}
	must(t, s, ended)
	must(t, s, open)
	must(t, s, expiring(entry("heard", session.EntryHeard, session.EndNone), session.Revision{}, noon()))
	must(t, s, expiring(entry("later", session.EntryEnded, session.EndRefused), session.Revision{}, noon().Add(time.Hour)))
	must(t, s, putting(entry("for ever", session.EntryEnded, session.EndNoticed), session.Revision{}))
	long := entry("long", session.EntryEnded, session.EndNoticed)
	long.Inbound.Text = strings.Repeat("long", 10_000)
	must(t, s, expiring(long, session.Revision{}, noon()))

	before, err := s.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commits := s.Stats().Commits
	sweep(t, s, noon(), 0) // the hour isn't over
	sweep(t, s, noon().Add(time.Hour), each+2)
	if n := s.Stats().Commits - commits; n < 2 || n > 4 {
		t.Errorf("the sweep took %d commits", n)
	}
	sweep(t, s, noon().Add(time.Hour), 0)
	after, err := s.Totals(t.Context())
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("totals %+v, before the sweep %+v, %v", after, before, err)
	}
	for key, want := range map[string]bool{"answered1": false, "long": false, "heard": false, "waits1": true, "later": true, "for ever": true} {
		if _, ok, err := s.Entry(t.Context(), session.EntryID{Address: home, Key: key}); ok != want || err != nil {
			t.Errorf("%s is there: %v, %v", key, ok, err)
		}
	}
}

func TestAnEntryKeepsItsExpiryUntilItEnds(t *testing.T) {
	s := fresh(t)
	e := entry("1", session.EntryOpen, session.EndNone)
	first := expiring(e, session.Revision{}, noon())
	must(t, s, first)
	sweep(t, s, noon().Add(5*time.Hour), 0)
	e.State, e.End = session.EntryEnded, session.EndAnswered
	e.Inbound.Text = strings.Repeat("long", 5000) // its front lies before chunks now
	must(t, s, putting(e, first.ID))
	sweep(t, s, noon().Add(5*time.Hour), 1)
}
