package session

import (
	"slices"

	"orebot/core/ledger"
)

// Limits of the rewrites in one Batch, far below the Batch's own: their number, and the bytes that they hold.
const (
	maxRewrites     = MaxBatchWrites - 100
	maxRewriteBytes = 2 << 20
)

// rewriteAhead commits rewrites that are too many for one Batch, the last ones, in Batches of their own, and returns the others, which
// go with what caused them. A process that dies in between finds the cause again, and less to rewrite.
func (s *Stream) rewriteAhead(rewrites []LogRecord) ([]LogRecord, error) {
	for {
		n, size := 0, 0
		for n < min(len(rewrites), maxRewrites) {
			if t := rewrites[n].Turn; t != nil {
				size += weight(*t)
			}
			if n > 0 && size > maxRewriteBytes {
				break
			}
			n++
		}
		if n == len(rewrites) {
			return rewrites, nil
		}
		b := s.batch()
		b.Rewrites = rewrites[len(rewrites)-n:]
		if err := s.commit(b); err != nil {
			return nil, err
		}
		rewrites = rewrites[:len(rewrites)-n]
	}
}

// widenBy is how far the live window goes back to what a summary had covered that is gone: so many times its size.
const widenBy = 4

// widen lets a Batch that empties the summary in front of the live window begin the window further back: behind the newest summary
// that is left, so that a new one can be made of what lies in between. Where that is too much, the chat is told that it is left out.
func (s *Stream) widen(b *Batch) (wider bool, err error) {
	base, ok := s.live.led.Base()
	gone := func(r LogRecord) bool { return r.Seq == base.ID.Seq && len(r.Turn.Artifacts) == 0 }
	if !ok || b.State.Base == 0 || len(base.Artifacts) > 0 && !slices.ContainsFunc(b.Rewrites, gone) {
		return false, nil
	}
	turns, leads, err := s.survey(b)
	if err != nil {
		return false, err
	}
	st, size := b.State, 0
	begin, lost := st.Window, false
	st.Base = 0
	for seq := st.Tip; seq != 0; seq = turns[seq].parent {
		if lead, ok := leads[seq]; ok {
			st.Base = lead
			break
		}
		if seq < begin {
			size += turns[seq].weight
		}
		if lost = lost || size > widenBy*s.m.cfg.WindowBytes; !lost && seq < st.Window && turns[seq].asks {
			st.Window = seq
		}
	}
	st.Fit.Lost = st.Fit.Lost || lost
	return true, nil
}

// surveyed is a turn on the log, as far as it matters where a window may begin.
type surveyed struct {
	parent ledger.Seq
	weight int
	asks   bool // a person's
}

// survey reads the whole log: its turns, and by the turn that they cover up to the newest summaries that a Batch leaves. This is rare.
func (s *Stream) survey(b *Batch) (turns map[ledger.Seq]surveyed, leads map[ledger.Seq]ledger.Seq, err error) {
	turns, leads = map[ledger.Seq]surveyed{}, map[ledger.Seq]ledger.Seq{}
	emptied := map[ledger.Seq]bool{}
	for _, r := range b.Rewrites {
		emptied[r.Seq] = r.Turn != nil && len(r.Turn.Artifacts) == 0
	}
	for from := ledger.Seq(1); from <= s.live.state.Last; {
		recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, from, logPage)
		if err != nil || len(recs) == 0 {
			return turns, leads, err
		}
		for _, r := range recs {
			from = r.Seq + 1
			if r.Kind != KindTurn || r.Turn == nil {
				continue
			}
			t := *r.Turn
			turns[r.Seq] = surveyed{parent: t.Parent, weight: weight(t), asks: t.Role == ledger.RoleUser}
			if t.Covers != 0 && len(t.Artifacts) > 0 && !emptied[r.Seq] {
				leads[t.Covers] = r.Seq
			}
		}
	}
	return turns, leads, nil
}

// reload reads the window again, from where it begins now.
func (s *Stream) reload() error {
	l := &live{led: ledger.NewThread(s.thread), state: s.live.state}
	if err := s.loadLog(s.m.turns, l); err != nil {
		return &storeError{err}
	}
	s.live.led, s.live.size, s.live.path = l.led, l.size, nil
	s.widened = true
	return nil
}
