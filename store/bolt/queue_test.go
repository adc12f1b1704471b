package bolt

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
)

// What nobody waits for shares the commit of what follows, and waits for no longer than its patience when nothing does.
func TestAPatientBatchSharesACommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		id := session.ThreadOf(session.EntryID{Address: home, Key: "opener"})
		commit := func(after ledger.Seq, patient bool) <-chan time.Time {
			b := turns(id, after, 1, "text")
			b.Patient = patient
			done := make(chan time.Time, 1)
			s.Commit(t.Context(), b, func(_ session.Result, err error) {
				if err != nil {
					t.Errorf("behind %d: %v", after, err)
				}
				done <- time.Now()
			})
			return done
		}
		before, begin := s.Stats().Commits, time.Now()
		first, second := commit(0, true), commit(1, false)
		<-first
		if at := <-second; at.Sub(begin) >= session.Patience {
			t.Errorf("somebody waited %s for a patient Batch", at.Sub(begin))
		}
		if n := s.Stats().Commits - before; n != 1 {
			t.Errorf("%d commits, want one for both", n)
		}
		begin = time.Now()
		if at := <-commit(2, true); at.Sub(begin) != session.Patience {
			t.Errorf("a patient Batch alone took %s, want %s", at.Sub(begin), session.Patience)
		}
		last := commit(3, true)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-last // what was queued before Close is committed
	})
}
