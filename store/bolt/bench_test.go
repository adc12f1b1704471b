package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orebot/core/ledger"
	"orebot/core/session"
)

// BenchmarkDisk is one write and fdatasync of a page, the least that anything durable costs on this disk; a commit of bbolt has two.
func BenchmarkDisk(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // a benchmark's file
	page := make([]byte, 4096)
	if err := f.Truncate(16 << 20); err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if _, err := f.WriteAt(page, int64(i%64)*4096); err != nil {
			b.Fatal(err)
		}
		if err := datasync(f); err != nil {
			b.Fatal(err)
		}
	}
}

// stocked opens a store with many entries and threads, as a bot has it after some time.
func stocked(b *testing.B) *Store {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "orebot.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for n := range 40 {
		batch := turns(threadNo(n), 0, 200, strings.Repeat("some words of a turn ", 20))
		for i := range 250 {
			e := entry(fmt.Sprintf("old-%d-%d", n, i), session.EntryEnded, session.EndAnswered)
			batch.Entries = append(batch.Entries, session.EntryWrite{Entry: e, Expires: noon()})
		}
		must(b, s, batch)
	}
	return s
}

func BenchmarkAccept(b *testing.B) {
	s := stocked(b)
	for i := 0; b.Loop(); i++ {
		must(b, s, accept(fmt.Sprint(i)))
	}
}

func BenchmarkUserTurn(b *testing.B) {
	s := stocked(b)
	seq := ledger.Seq(200)
	for b.Loop() {
		must(b, s, turns(threadNo(1), seq, 1, "a question of usual length, say"))
		seq++
	}
}

// final is the Batch of a final turn: the turn, the end of an entry, the due note and the cursor.
func final(id ledger.ThreadID, after ledger.Seq, a session.Address, e session.Entry, cursor session.Revision) session.Batch {
	batch := turns(id, after, 1, strings.Repeat("an answer of usual length ", 40))
	e.ID.Address, e.Inbound.Address = a, a
	batch.Entries = []session.EntryWrite{{Entry: e, Expires: noon()}}
	batch.Due = []session.DueWrite{{Address: a, Seq: after + 1}}
	batch.Cursors = []session.CursorWrite{{Address: a, Rev: cursor, Cursor: session.Cursor{Seq: after + 1, Attempt: &session.Attempt{N: 1}}}}
	return batch
}

func BenchmarkFinalTurn(b *testing.B) {
	s := stocked(b)
	var cursor session.Revision
	seq := ledger.Seq(200)
	for b.Loop() {
		batch := final(threadNo(1), seq, home, entry(fmt.Sprint(seq), session.EntryEnded, session.EndAnswered), cursor)
		must(b, s, batch)
		cursor, seq = batch.ID, seq+1
	}
}

// BenchmarkFinalTurnOfALongThread shows that the length of a thread costs nothing.
func BenchmarkFinalTurnOfALongThread(b *testing.B) {
	s := stocked(b)
	seq := ledger.Seq(200)
	for ; seq < 10_000; seq += 400 {
		must(b, s, turns(threadNo(1), seq, 400, strings.Repeat("some words of a turn ", 20)))
	}
	var cursor session.Revision
	for b.Loop() {
		batch := final(threadNo(1), seq, home, entry(fmt.Sprint(seq), session.EntryEnded, session.EndAnswered), cursor)
		must(b, s, batch)
		cursor, seq = batch.ID, seq+1
	}
}

func BenchmarkFinalTurns64Writers(b *testing.B) {
	s := stocked(b)
	var writer atomic.Int64
	before := s.Stats().Commits
	b.ResetTimer()
	b.SetParallelism(32) // of 2 cores
	b.RunParallel(func(pb *testing.PB) {
		n := int(writer.Add(1)) + 1000
		a := session.Address(fmt.Sprintf("slack:T1/C%d", n))
		var cursor session.Revision
		for seq := ledger.Seq(0); pb.Next(); seq++ {
			batch := final(threadNo(n), seq, a, entry(fmt.Sprint(seq), session.EntryEnded, session.EndAnswered), cursor)
			must(b, s, batch)
			cursor = batch.ID
		}
	})
	b.ReportMetric(float64(b.N)/float64(s.Stats().Commits-before), "batches/commit")
}

func BenchmarkHydrate200Turns(b *testing.B) {
	s := stocked(b)
	for b.Loop() {
		if log, err := s.Log(b.Context(), threadNo(7), 1, 200); err != nil || len(log) != 200 {
			b.Fatal(len(log), err)
		}
	}
}

func BenchmarkReadAddress(b *testing.B) {
	s := stocked(b)
	must(b, s, final(threadNo(1), 200, home, entry("1", session.EntryEnded, session.EndAnswered), session.Revision{}))
	for b.Loop() {
		if st, err := s.Address(b.Context(), home); err != nil || st.Due != 201 {
			b.Fatal(st, err)
		}
	}
}

// BenchmarkOpenAfterKill opens a file whose free pages have to be found.
func BenchmarkOpenAfterKill(b *testing.B) {
	s := stocked(b)
	path := filepath.Join(b.TempDir(), "killed.db")
	writeFile(b, path, readFile(b, s.path))
	for b.Loop() {
		db, err := openFile(path, Options{Logger: s.opts.Logger, LockTimeout: defaultLockTimeout}, minMmap)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
