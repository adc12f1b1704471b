package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"orebot/core/access"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// stopping is a stop that has been applied to a job: its message, what it says, and the messages that it withdraws.
type stopping struct {
	by        *job
	say       func(Outcome) Reply
	withdrawn []StoredEntry
	before    int  // messages that it has withdrawn already, since one Batch doesn't hold them all
	over      bool // it has been said
}

// maxWithdrawn is how many messages end along with others in one Batch.
const maxWithdrawn = MaxBatchWrites - maxTogether - 50

// total is how many messages it withdraws.
func (st *stopping) total() int { return st.before + len(st.withdrawn) }

// withdraw ends messages, the first ones, until one Batch holds those that are left.
func (s *Stream) withdraw(st *stopping, a Address) error {
	for len(st.withdrawn) > maxWithdrawn {
		j := &job{addr: a, entries: st.withdrawn[:maxWithdrawn:maxWithdrawn]}
		if err := s.endSilently(j, EndWithdrawn); err != nil {
			s.putBack(idsOf(st.withdrawn))
			return err
		}
		st.before += maxWithdrawn
		st.withdrawn = st.withdrawn[maxWithdrawn:]
	}
	return nil
}

// has reports whether a message waits for the stop to be done.
func (st *stopping) has(id EntryID) bool {
	same := func(e StoredEntry) bool { return e.ID == id }
	return slices.ContainsFunc(st.by.entries, same) || slices.ContainsFunc(st.withdrawn, same)
}

// stop cancels the answer in progress, where the command's author may, and withdraws their older messages. Where something is
// cancelled, the Batch that ends it ends the command too.
func (s *Stream) stop(j, run *job, eff Effect) error {
	st := &stopping{by: j, say: eff.Say, withdrawn: s.olderOf(j.first())}
	if err := s.withdraw(st, j.addr); err != nil {
		return err
	}
	idle := run == nil // nothing is in hand, but something may be on the log
	if idle {
		run = s.resumable()
	}
	by := j.first().Inbound
	mine := run != nil && (eff.Others || run.first().Inbound.Author.ID == by.Author.ID) && (!by.Here || run.addr == j.addr)
	switch {
	case mine && run.stop == nil && !run.done:
		run.stop = st
		if idle {
			return s.stopped(run, nil)
		}
		run.cancel(errStopped)
		return nil
	case run != nil && idle: // it isn't theirs
		s.waiting = append(s.waiting, run.entries...)
	}
	n := st.total()
	e := replying(eff.Say(Outcome{Done: n > 0, Withdrawn: n, Theirs: run != nil && !mine}))
	e.withdraw = st.withdrawn
	return s.notice(j, e)
}

// resumable takes the job out of what waits whose turn is on the log already: it was being answered when the process ended.
func (s *Stream) resumable() *job {
	for _, e := range s.waiting {
		if e.State == EntrySubmitted {
			return s.remove(func(o StoredEntry) bool { return o.State == EntrySubmitted && o.Turn == e.Turn })
		}
	}
	return nil
}

// olderOf takes out of what waits the messages that the author of e wrote before it, but for a link whose code is used.
func (s *Stream) olderOf(e *StoredEntry) (older []StoredEntry) {
	rest := s.waiting[:0:0]
	for _, o := range s.waiting {
		if o.State == EntryOpen && o.Join == nil && o.ID.Address == e.ID.Address && o.Inbound.Author.ID == e.Inbound.Author.ID && before(o.Inbound, e.Inbound) {
			older = append(older, o)
		} else {
			rest = append(rest, o)
		}
	}
	s.waiting = rest
	return older
}

// before reports whether a message was written before another one at the same address.
func before(a, b Inbound) bool {
	if a.Order != "" && b.Order != "" {
		return a.Order < b.Order
	}
	return !a.At.After(b.At)
}

// stopped ends a job that a stop has cancelled, with the command and what that withdraws, in one Batch. What there was of an answer
// stays on the log, off the active path; the question stays on it.
func (s *Stream) stopped(j *job, err error) error {
	st := j.stop
	e := replying(st.say(Outcome{Done: true, Withdrawn: st.total()}))
	e.withdraw = append(append(e.withdraw, j.entries...), st.withdrawn...)
	e.lead = s.setAside(j, err)
	if j.addr != st.by.addr {
		e.lead = append(e.lead, s.lineAt(j.addr, "Stopped, on "+PlatformName(st.by.addr)+"."))
	}
	if err := s.notice(st.by, e); err != nil {
		s.putBack(idsOf(st.by.entries))
		return err
	}
	j.done, st.over = true, true
	return nil
}

// setAside returns the records that keep a partial answer and take it, and what else followed the question, off the active path.
func (s *Stream) setAside(j *job, err error) (recs []LogRecord) {
	if j.turn == 0 {
		return nil
	}
	var cut *loop.InterruptedError
	if errors.As(err, &cut) && len(cut.Artifacts) > 0 {
		t := s.stamp(ledger.Turn{Role: ledger.RoleAssistant, Artifacts: cut.Artifacts, Draft: true, Provenance: string(j.addr)})
		recs = append(recs, turnRecord(t))
	}
	if len(recs) > 0 || s.live.state.Tip != j.turn {
		recs = append(recs, LogRecord{Kind: KindTip, Tip: &TipMove{To: j.turn}})
	}
	return recs
}

// startSides begins the commands among what waits that run beside a turn, and tells of what is beyond a limit. What they come to is done
// by the worker, in apart.
func (s *Stream) startSides(ctx context.Context, run *job) {
	for i := 0; i < len(s.waiting); {
		e := s.waiting[i]
		if !s.overNow(e) && !s.urgent(e) || slices.Contains(s.later, e.ID) {
			i++
			continue
		}
		j := s.remove(func(o StoredEntry) bool { return o.ID == e.ID })
		s.sides = append(s.sides, j)
		c, v := s.commandOf(j, run), s.view(j, run)
		go s.runSide(ctx, j, run, c, v)
	}
}

// runSide decides about a command, away from the worker, and hands it the outcome; of a message beyond a limit, only whether its author
// may be told.
func (s *Stream) runSide(ctx context.Context, j, run *job, c Command, v View) {
	var eff Effect
	var admitted bool
	err := guarded(func() (err error) {
		if admitted, err = s.admits(ctx, j); err == nil && admitted && j.first().Over == "" {
			eff, err = s.consult(ctx, c, v)
		}
		return err
	})
	done := make(chan struct{})
	s.asks <- &ask{done: done, f: func() { s.sideDone(ctx, j, run, eff, admitted, err) }}
	<-done
}

// sideDone does what a command beside a turn came to. One that was cut off, and one of somebody who isn't let in, takes its place in
// the queue again.
func (s *Stream) sideDone(ctx context.Context, j, run *job, eff Effect, admitted bool, err error) {
	for i, o := range s.sides {
		if o == j {
			s.sides = append(s.sides[:i:i], s.sides[i+1:]...)
			break
		}
	}
	if !admitted || ctx.Err() != nil || s.m.turns.Err() != nil {
		s.waiting = append(s.waiting, j.entries...)
		s.later = append(s.later, j.first().ID)
		return
	}
	if j.first().Over != "" {
		err = s.over(j)
	} else {
		_, err = s.conclude(j, run, s.orSorry(j, eff, err))
	}
	s.besideTurn(j, run, err)
}

// besideTurn is what follows the end of a message beside a turn: where that failed, the turn ends as well, and all is read again.
func (s *Stream) besideTurn(j, run *job, err error) {
	if err == nil {
		return
	}
	s.putBack(idsOf(j.entries))
	if run != nil && run.cancel != nil {
		run.cancel(&storeError{err})
	}
}

// overNow reports whether a waiting message is beyond a limit, so that its author needn't wait to hear it.
func (s *Stream) overNow(e StoredEntry) bool {
	return e.Over != "" && e.State == EntryOpen && e.Refusal == "" && !s.joining(e.ID.Address)
}

// sideTime is how long commands beside a turn may still take when it has ended; those that need longer begin anew in the queue.
const sideTime = time.Second

// admits decides about the author of a command that runs beside a turn. Who can't be told of now waits in the queue.
func (s *Stream) admits(ctx context.Context, j *job) (bool, error) {
	in := j.first().Inbound
	p := s.m.cfg.Platforms[j.addr.Conduit()]
	v := p.Policy.Decide(person(in.Author), in.Place)
	if v.Outcome != access.Ask || p.People == nil {
		return v.Outcome == access.Allow, nil
	}
	who, err := p.People.Person(ctx, j.addr, in.Author)
	if err != nil {
		return false, nil
	}
	return p.Policy.Decide(person(who), in.Place).Outcome == access.Allow, nil
}

// stopsFirst lets what was written before a restart and doesn't wait for a turn take effect before that turn is resumed.
func (s *Stream) stopsFirst(j *job) (over bool, err error) {
	if s.m.cfg.Commander == nil {
		return false, nil
	}
	s.hand = j
	defer func() { s.hand = nil }()
	for a := range s.live.places {
		waiting, err := s.m.cfg.Store.Waiting(s.m.turns, a)
		if err != nil {
			return false, err
		}
		for _, e := range waiting {
			if s.urgent(e) && !s.has(e.ID) {
				s.waiting = append(s.waiting, e)
			}
		}
	}
	if err := s.apart(j, func() error { return nil }); err != nil || j.stop == nil {
		return false, err
	}
	return true, s.stopped(j, nil)
}
