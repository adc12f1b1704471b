package session

import (
	"context"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// recount puts what was said before a job on the log, in one Batch that notes it as used: turns of their own, attributed, oldest first.
func (s *Stream) recount(j *job, list []above, heard []StoredEntry) error {
	turns, index := s.turnsAbove(j.addr, newestAbove(list))
	if len(turns) == 0 && len(heard) == 0 {
		return nil
	}
	recs := make([]LogRecord, 0, len(turns))
	for _, t := range turns {
		recs = append(recs, turnRecord(t))
	}
	b := s.batch(recs...)
	b.Index = index
	for i := range heard {
		e := heard[i].Entry
		e.State = EntryUsed
		b.Entries = append(b.Entries, EntryWrite{Rev: heard[i].Rev, Entry: e})
	}
	if err := s.bind(&b, j); err != nil {
		return err
	}
	s.noteWriter(&b, j.first().Inbound.Author.ID)
	for _, t := range turns {
		if t.Author != "" {
			s.noteWriter(&b, t.Author)
			s.m.alsoWrites(j.addr, t.Author)
		}
	}
	if err := s.commit(b); err != nil {
		return err
	}
	ctx := loop.WithThreadID(loop.WithProvenance(context.Background(), string(j.addr)), s.thread.String())
	for _, t := range turns {
		s.live.step.Emit(ctx, loop.TurnCompleteEvent{Turn: t, Ctx: ctx})
	}
	return nil
}

// newestAbove is as much of the end of a list as the model is told.
func newestAbove(list []above) []above {
	size, from := 0, len(list)
	for from > 0 && size <= maxAboveBytes {
		from--
		size += min(len(list[from].text), maxAboveText)
	}
	return list[from:]
}

// turnsAbove makes turns of what was said at an address, to follow the log's last record, and notes in what was heard which turn holds it.
func (s *Stream) turnsAbove(at Address, list []above) (turns []ledger.Turn, index []IndexWrite) {
	st := s.live.state
	for _, a := range list {
		if blank(a.text) {
			continue
		}
		t := ledger.Turn{
			ID: ledger.TurnID{Thread: s.thread, Seq: st.Last + ledger.Seq(len(turns)) + 1}, Parent: st.Tip, Role: ledger.RoleUser,
			Time: time.Now().UTC(), Provenance: string(at), Author: a.author.ID, Speaker: speaker(a.author),
			Artifacts: []artifact.Artifact{artifact.Text{Content: clip(a.text, maxAboveText)}},
		}
		if a.own {
			t.Author, t.Speaker = "", "you, earlier"
		}
		if a.heard != nil {
			t.Entries = []string{a.heard.ID.String()}
			a.heard.Thread, a.heard.Turn = s.thread, t.ID.Seq
		}
		st.Tip = t.ID.Seq
		turns = append(turns, t)
		if a.message != "" {
			index = append(index, IndexWrite{at, a.message, MessageRef{Thread: s.thread, Seq: t.ID.Seq}})
		}
	}
	return turns, index
}

// alsoWrites takes down that somebody else has written at an address.
func (m *Manager) alsoWrites(a Address, author string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.places[a]; p != nil {
		p.note(author, false)
	}
}

// speaker is the name that the model knows somebody by.
func speaker(a Author) string {
	if a.Name != "" {
		return a.Name
	}
	return a.ID
}
