package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/words"
)

// tooLate ends a question that is too old to be answered unasked with a line. The question is put on the log and set aside, off the
// active path, so that `retry` asks it: one Batch.
func (s *Stream) tooLate(j *job, age time.Duration) error {
	e := ending{how: EndNoticed, sev: loop.SeverityWarn,
		text: fmt.Sprintf("You asked %s ago while I was away; please ask again if it still matters.", words.Duration(age))}
	arts, err := s.readLate(j)
	if err != nil || len(arts) == 0 || s.m.cfg.Commander == nil {
		if err != nil {
			return err
		}
		return s.notice(j, e)
	}
	e.text = fmt.Sprintf("You asked %s ago while I was away; `%sretry` asks it now.", words.Duration(age), s.m.prefix(j.addr))
	e.offers = []string{"retry"}
	t := s.unanswered(j, arts)
	e.lead = []LogRecord{turnRecord(t), {Kind: KindTip, Tip: &TipMove{To: t.Parent, Aside: t.ID.Seq}}}
	e.with = func(b *Batch) {
		for _, o := range j.entries {
			if o.Inbound.Message != "" {
				b.Index = append(b.Index, IndexWrite{j.addr, o.Inbound.Message, MessageRef{Thread: s.thread, Seq: t.ID.Seq}})
			}
		}
		s.showElsewhere(b, j.addr, t.ID.Seq)
	}
	if err := s.notice(j, e); errors.Is(err, ErrTooLarge) {
		return s.oversize(j)
	} else if err != nil {
		return err
	}
	ctx := loop.WithThreadID(loop.WithProvenance(context.Background(), string(j.addr)), s.thread.String())
	s.live.step.Emit(ctx, loop.TurnCompleteEvent{Turn: t, Ctx: ctx})
	return nil
}

// overdue ends a turn that is resumed when its question is too old to be answered unasked. The question is on the log already.
func (s *Stream) overdue(j *job) (over bool, err error) {
	in := j.last().Inbound
	if j.turn == 0 || !s.tooOld(in) || s.m.cfg.Commander == nil {
		return false, nil
	}
	text := fmt.Sprintf("You asked %s ago while I was away; `%sretry` asks it now.", words.Duration(time.Since(in.At)), s.m.prefix(j.addr))
	return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, text: text, aside: true, offers: []string{"retry"}})
}

// readLate makes the artifacts of a late question, its files included: later they may be gone.
func (s *Stream) readLate(j *job) (arts []artifact.Artifact, err error) {
	var lines []string
	s.named(j)
	err = s.apart(j, func() (err error) {
		j.files, lines, err = s.attach(s.m.turns, j)
		return err
	})
	switch {
	case s.m.turns.Err() != nil:
		return nil, errShutdown
	case err != nil:
		return nil, err
	}
	for _, line := range lines {
		j.tellBeside(line)
	}
	arts, j.parts = prompt(j.entries, j.files)
	return arts, nil
}

// unanswered is the user turn of a job that isn't submitted. The job's entries name it from now on: edits and deletions find it there.
func (s *Stream) unanswered(j *job, arts []artifact.Artifact) ledger.Turn {
	in := j.last().Inbound
	t := s.stamp(ledger.Turn{Role: ledger.RoleUser, Artifacts: arts, Provenance: string(j.addr),
		Author: j.first().Inbound.Author.ID, Entries: entryNames(j.entries)})
	if !plainParts(j.parts) {
		t.Parts = j.parts
	}
	if in.Place != "" || s.linked(j.addr) {
		t.Speaker = speaker(in.Author)
	}
	for i := range j.entries {
		j.entries[i].Thread, j.entries[i].Turn = s.thread, t.ID.Seq
	}
	return t
}
