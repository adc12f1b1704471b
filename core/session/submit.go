package session

import (
	"time"

	"orebot/core/ledger"
)

// submit commits a user turn without waiting.
func (s *Stream) submit(j *job, t ledger.Turn) error {
	b := s.batch(turnRecord(t))
	if err := s.bind(&b, j); err != nil {
		return err
	}
	s.noteWriter(&b, t.Author)
	j.turn = t.ID.Seq
	for i := range j.entries {
		j.entries[i].Starts++
	}
	s.submitEntries(&b, j)
	if s.showElsewhere(&b, j.addr, t.ID.Seq); len(b.Due) > 0 {
		return s.commit(b) // somebody waits for it elsewhere
	}
	return s.send(j, b)
}

// submitEntries writes into the Batch that a job's messages are on the log, in its user turn.
func (s *Stream) submitEntries(b *Batch, j *job) {
	for i := range j.entries {
		e := &j.entries[i]
		fresh := e.State != EntrySubmitted || e.Turn != j.turn
		e.State, e.Thread, e.Turn = EntrySubmitted, s.thread, j.turn
		if fresh && e.Inbound.Message != "" {
			ref := MessageRef{Thread: s.thread, Seq: j.turn}
			b.Index = append(b.Index, IndexWrite{e.ID.Address, e.Inbound.Message, ref})
		}
	}
	s.writeEntries(b, j, time.Time{})
}
