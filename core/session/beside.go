package session

import (
	"context"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// tellBeside keeps a line that the chat is to be shown beside the answer, once. It is kept with the messages, so that it is there
// after a crash too.
func (j *job) tellBeside(line string) {
	e := j.first()
	if !slices.Contains(e.Asides, line) {
		e.Asides = append(slices.Clone(e.Asides), line)
	}
}

// besides returns the lines that are to be shown beside the answer, as end records that end nothing. They belong in the Batch that
// ends the messages.
func (s *Stream) besides(j *job) (recs []LogRecord) {
	var said []string
	for _, e := range j.entries {
		for _, line := range e.Asides {
			if slices.Contains(said, line) {
				continue
			}
			said = append(said, line)
			recs = append(recs, LogRecord{Kind: KindEnd, End: &EndRecord{
				To: j.addr, Severity: loop.SeverityInfo, Text: line, Reply: j.last().Inbound.Message, Time: time.Now().UTC(),
				About: max(j.turn, j.first().Turn), // one that is too old is set aside without having been the job's
				Of:    e.ID,
			}})
		}
	}
	return recs
}

// deliverAll marks a final turn as due wherever its thread is shown, and what follows it in the Batch where it was asked.
func (s *Stream) deliverAll(b *Batch, j *job, seq ledger.Seq) {
	for a := range s.live.places {
		s.deliver(b, a, seq)
	}
	for i := range b.Due {
		if b.Due[i].Address == j.addr {
			b.Due[i].Seq = b.State.Last
		}
	}
}

// Promote makes a draft the answer: one Batch with that fact, the ends of the messages and what is due. Only then is it announced.
func (b boundState) Promote(ctx context.Context, id ledger.TurnID) (err error) {
	var t ledger.Turn
	b.s.own(func() { t, err = b.s.promote(ctx, id) })
	if err == nil {
		b.s.live.step.Emit(ctx, loop.TurnCompleteEvent{Turn: t})
	}
	return err
}

func (s *Stream) promote(ctx context.Context, id ledger.TurnID) (ledger.Turn, error) {
	if err := context.Cause(ctx); err != nil {
		return ledger.Turn{}, err
	}
	t, ok := s.live.led.Turn(id.Seq)
	j := s.live.job
	t.Draft = false
	switch {
	case !ok || id.Thread != s.thread || !t.Final() || j == nil || j.done || j.stop != nil:
		return t, errNoDraft
	case !shows(t.Text()):
		return t, errShowsNothing()
	}
	s.tellFit(j)
	recs := append([]LogRecord{{Kind: KindFinal, Final: &Final{Turn: id.Seq}}}, s.besides(j)...)
	b := s.batch(recs...)
	final := b.Log[0].Seq
	s.trim(&b)
	b.State.Tokens.Answers++
	if err := s.charge(&b, j.payer(), Tokens{Answers: 1}); err != nil {
		return t, err
	}
	s.end(&b, j, EndAnswered, id.Seq)
	s.deliverAll(&b, j, final)
	err := s.commitEnd(b)
	j.done = err == nil
	return t, err
}

// aboutDeleted takes the place of a line that quoted what was deleted, where it hasn't been shown yet or is read again.
const aboutDeleted = "The message that this was about was deleted."

// withoutQuotes adds to the rewrites of a turn the lines to the chat that quote it, such as what was taken back, or the name of a file.
func (s *Stream) withoutQuotes(rewrites []LogRecord, seq ledger.Seq) ([]LogRecord, error) {
	for from := seq + 1; from <= s.live.state.Last; {
		recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, from, logPage)
		if err != nil || len(recs) == 0 {
			return rewrites, err
		}
		for _, r := range recs {
			if from = r.Seq + 1; r.End != nil && r.End.About == seq {
				end := *r.End
				end.Text, end.About = aboutDeleted, 0
				rewrites = append(rewrites, LogRecord{Seq: r.Seq, Kind: KindEnd, End: &end})
			}
		}
	}
	return rewrites, nil
}

// withoutOwnLine returns the rewrite of the line with which a message ended that is in no turn, where the line quotes it.
func (s *Stream) withoutOwnLine(e *StoredEntry) ([]LogRecord, error) {
	if e.EndSeq == 0 || e.Thread != s.thread || s.live.broken != nil {
		return nil, nil
	}
	recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, e.EndSeq, 1)
	if err != nil || len(recs) == 0 || recs[0].End == nil || recs[0].End.About != e.EndSeq {
		return nil, err
	}
	end := *recs[0].End
	end.Text, end.About = aboutDeleted, 0
	return []LogRecord{{Seq: recs[0].Seq, Kind: KindEnd, End: &end}}, nil
}
