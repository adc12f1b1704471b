package session

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// Stream is one thread while somebody uses it. Its worker, a goroutine that exists while there is work, owns all of its state
// but what the Manager's mutex guards.
type Stream struct {
	m      *Manager
	thread ledger.ThreadID

	// Guarded by Manager.mu.
	inbox   []EntryID
	running bool
	idle    time.Time

	bell chan struct{} // has one in it once something came in, for a worker in apart

	// The worker's. The Manager closes it while no worker runs.
	waiting  []StoredEntry         // in the order of arrival
	signals  []StoredEntry         // that are to be applied, in the order of arrival
	rest     time.Duration         // until the first group of what waits has settled; 0: something is to be done now
	settles  map[EntryID]time.Time // until when members of groups let the rest wait
	alarm    *time.Timer           // wakes the thread after rest
	live     *live
	window   int         // the model's, in tokens, as of the last prompt; 0: not known yet
	counts   promptCount // the last prompt that a server has counted
	failedAt int         // how long a prompt would have been, estimated, when no summary could be made; 0: none has failed
	failedOn string      // the model that made none then
	widened  bool        // what was summarised is in the live window again
	retries  int         // times in a row that the thread had to be read again
	hand     *job        // the one that is being worked on while the worker takes in more
	sides    []*job      // commands that run beside it
	later    []EntryID   // of those, the ones that have to wait for its end after all
	lent     bool        // something runs apart
	asks     chan *ask   // what it wants of the worker
}

// job is what the worker does next: messages that belong to one user turn, at one address.
type job struct {
	addr    Address
	entries []StoredEntry
	turn    ledger.Seq // their user turn, once it is on the log
	cancel  context.CancelCauseFunc
	mending bool                            // turns that are appended close what a crash left open
	done    bool                            // its entries have ended
	stop    *stopping                       // cancels it
	files   map[EntryID][]artifact.Artifact // what became of attachments
	parts   []ledger.Part                   // of the user turn
	plan    *budget.Plan                    // of its prompts
	cut     atomic.Pointer[provider.Cut]    // what the provider says that the server left out of the last prompt
	bare    bool                            // its messages only call the bot, below something to answer
	changed atomic.Bool                     // something was edited or deleted since its prompt was made
	remade  int                             // prompts that were thrown away for that
	doubted bool                            // a refusal of its prompt as too long wasn't believed
	unsign  func()                          // ends the sign that is shown of it
	charge  charge                          // what speaks against its question
	settles time.Time                       // until when more may join it, after something has
	closed  bool                            // nothing joins it any more
}

func (j *job) first() *StoredEntry { return &j.entries[0] }
func (j *job) last() *StoredEntry  { return &j.entries[len(j.entries)-1] }

// holds reports whether a message is one of the job's.
func (j *job) holds(id EntryID) bool {
	return slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return e.ID == id })
}

func idsOf(entries []StoredEntry) []EntryID {
	ids := make([]EntryID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids
}

// work runs until nothing waits, or until another Stream's turn has come.
func (s *Stream) work() {
	for fresh := true; ; fresh = false {
		ids, stop := s.take(fresh)
		if stop {
			return
		}
		if err := s.absorb(ids); err != nil {
			s.lose(err, ids)
			continue
		}
		if err := s.settleSignals(); err != nil {
			s.lose(err, nil)
			continue
		}
		if j := s.next(); j != nil {
			s.do(j)
		} else if !s.widened {
			continue
		}
		s.widened = false
		if err := guarded(func() error { s.compactIdle(); return nil }); err != nil {
			s.lose(err, nil)
		}
	}
}

// take empties the inbox. Where nothing waits, or the Manager stops, the worker ends; a worker that isn't fresh also ends where
// Streams wait for one, behind which this one then waits.
func (s *Stream) take(fresh bool) (ids []EntryID, stop bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	switch {
	case !fresh && !s.m.stopping && len(s.inbox)+len(s.signals) == 0 && len(s.waiting) > 0 && s.rest > 0:
		s.running, s.idle = false, time.Now()
		s.alarm = time.AfterFunc(s.rest, func() { s.m.rouse(s) })
		s.m.release()
		return nil, true
	case s.m.stopping || len(s.inbox)+len(s.signals)+len(s.waiting) == 0:
		s.running, s.idle = false, time.Now()
		s.m.release()
		return nil, true
	case !fresh && len(s.m.ready) > 0:
		s.m.ready = append(s.m.ready, s)
		s.m.release()
		return nil, true
	}
	ids, s.inbox = s.inbox, nil
	s.rest = 0
	if s.alarm != nil {
		s.alarm.Stop()
	}
	return ids, false
}

// absorb reads the entries named and lets those in that wait and aren't here yet. One whose user turn is on another thread's log
// goes there; one that can't be read holds up nobody but itself.
func (s *Stream) absorb(ids []EntryID) error {
	for _, id := range ids {
		if s.has(id) {
			continue
		}
		e, ok, err := s.m.cfg.Store.Entry(s.m.turns, id)
		var corrupt *CorruptError
		switch {
		case errors.As(err, &corrupt):
			s.m.cfg.Logger.Error("entry unreadable", observe.KeyEntry, id.String(), observe.KeyError, err)
		case err != nil:
			return err
		case !ok || !e.State.Waits():
		case e.State == EntrySignal:
			s.signals = append(s.signals, e)
		case e.State == EntrySubmitted && e.Thread != s.thread:
			s.m.wakeIn(e.Thread, id)
		default:
			s.noteWaiting(e.Entry)
			s.waiting = append(s.waiting, e)
			s.noteGroup(e)
		}
	}
	return nil
}

// has reports whether an entry is here already, waiting or in hand.
func (s *Stream) has(id EntryID) bool {
	same := func(e StoredEntry) bool { return e.ID == id }
	holds := func(j *job) bool { return j.holds(id) }
	return slices.ContainsFunc(s.waiting, same) || slices.ContainsFunc(s.signals, same) ||
		s.hand != nil && holds(s.hand) || slices.ContainsFunc(s.sides, holds) || s.hand != nil && s.hand.stop != nil && s.hand.stop.has(id)
}

// do brings a job to its end, or, where the store or the grace ends first, leaves it as it stands.
func (s *Stream) do(j *job) {
	err := s.try(j)
	if st := j.stop; st != nil && !st.over { // something else ended the job first
		s.putBack(append(idsOf(st.by.entries), idsOf(st.withdrawn)...))
	}
	if err != nil {
		s.lose(err, idsOf(j.entries))
		return
	}
	s.retries = 0
}

// close ends the Step, where one lives.
func (s *Stream) close() {
	if s.alarm != nil {
		s.alarm.Stop()
	}
	if s.live != nil && s.live.step != nil {
		_ = s.live.step.Close()
	}
	s.live = nil
}
