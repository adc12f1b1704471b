package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/observe"
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

	// The worker's. The Manager closes it while no worker runs.
	waiting []StoredEntry // in the order of arrival
	live    *live
	retries int // times in a row that the thread had to be read again
}

// job is what the worker does next: messages that belong to one user turn, at one address.
type job struct {
	addr    Address
	entries []StoredEntry
	turn    ledger.Seq // their user turn, once it is on the log
	cancel  context.CancelCauseFunc
}

func (j *job) first() *StoredEntry { return &j.entries[0] }
func (j *job) last() *StoredEntry  { return &j.entries[len(j.entries)-1] }

// work runs until nothing waits.
func (s *Stream) work() {
	for {
		ids, stop := s.take()
		if stop {
			return
		}
		if err := s.absorb(ids); err != nil {
			s.lose(err)
			continue
		}
		if j := s.next(); j != nil {
			s.do(j)
		}
	}
}

// take empties the inbox. Where nothing waits, or the Manager stops, the worker ends.
func (s *Stream) take() (ids []EntryID, stop bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.m.stopping || len(s.inbox) == 0 && len(s.waiting) == 0 {
		s.running, s.idle = false, time.Now()
		return nil, true
	}
	ids, s.inbox = s.inbox, nil
	return ids, false
}

// absorb reads the entries named and lets those in that wait and aren't here yet.
func (s *Stream) absorb(ids []EntryID) error {
	for _, id := range ids {
		if slices.ContainsFunc(s.waiting, func(e StoredEntry) bool { return e.ID == id }) {
			continue
		}
		e, ok, err := s.m.cfg.Store.Entry(s.m.turns, id)
		if err != nil {
			return err
		}
		if ok && e.State.Waits() {
			s.waiting = append(s.waiting, e)
		}
	}
	return nil
}

// next takes the job that comes first: what was submitted before a restart, then the first address in the order of arrival, and
// of that address what was written first.
func (s *Stream) next() *job {
	if len(s.waiting) == 0 {
		return nil
	}
	if i := slices.IndexFunc(s.waiting, func(e StoredEntry) bool { return e.State == EntrySubmitted }); i >= 0 {
		seq := s.waiting[i].Turn
		return s.remove(func(e StoredEntry) bool { return e.State == EntrySubmitted && e.Turn == seq })
	}
	at := s.waiting[0].ID.Address
	var here []StoredEntry
	for _, e := range s.waiting {
		if e.ID.Address == at {
			here = append(here, e)
		}
	}
	slices.SortStableFunc(here, func(a, b StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
	take := here[:s.together(here)]
	return s.remove(func(e StoredEntry) bool {
		return slices.ContainsFunc(take, func(o StoredEntry) bool { return o.ID == e.ID })
	})
}

// together counts how many of an address's waiting messages make one turn: consecutive plain ones of one author.
func (s *Stream) together(here []StoredEntry) int {
	n := 1
	for !s.m.cfg.OneByOne && n < len(here) && plain(here[0]) && plain(here[n]) &&
		here[n].Inbound.Author.ID == here[0].Inbound.Author.ID {
		n++
	}
	return n
}

// plain messages may be answered together; what is refused or empty is dealt with alone.
func plain(e StoredEntry) bool {
	return e.Refusal == "" && !blank(e.Inbound.Text) && e.Inbound.Call != CallCommand
}

// remove makes a job of the waiting entries that match.
func (s *Stream) remove(match func(StoredEntry) bool) *job {
	j := &job{}
	rest := s.waiting[:0:0]
	for _, e := range s.waiting {
		if match(e) {
			j.entries = append(j.entries, e)
		} else {
			rest = append(rest, e)
		}
	}
	s.waiting = rest
	slices.SortStableFunc(j.entries, func(a, b StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
	j.addr, j.turn = j.entries[0].ID.Address, j.entries[0].Turn
	return j
}

// do brings a job to its end, or, where the store or the grace ends first, leaves it as it stands.
func (s *Stream) do(j *job) {
	err := s.hydrate(s.m.turns)
	if err == nil {
		err = s.handle(j)
	}
	if err != nil {
		s.lose(err)
		return
	}
	s.retries = 0
}

// lose gives up what is in memory: something else is, or may be, in the store. What waits is read again, unless the process is
// about to end.
func (s *Stream) lose(err error) {
	s.close()
	s.waiting = nil
	log := s.m.cfg.Logger.With(observe.KeyThread, s.thread.String(), observe.KeyError, err)
	if errors.Is(err, errShutdown) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrClosed) || s.m.turns.Err() != nil {
		log.Debug("thread left as it stands")
		s.forget()
		return
	}
	s.retries++
	log.Error("thread read again", observe.KeyAttempt, s.retries)
	t := time.NewTimer(min(time.Duration(s.retries)*100*time.Millisecond, 5*time.Second))
	defer t.Stop()
	select {
	case <-t.C:
		s.refill()
	case <-s.m.turns.Done():
	}
}

// forget empties the inbox: the next life of the process, or the next message, finds what waits.
func (s *Stream) forget() {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.inbox = nil
}

// refill wakes every entry that waits at the thread's addresses anew: an address may have been bound elsewhere meanwhile.
func (s *Stream) refill() {
	for _, a := range s.unroute() {
		entries, err := s.m.cfg.Store.Waiting(s.m.turns, a)
		if err != nil {
			s.m.cfg.Logger.Error("waiting entries unreadable", observe.KeyAddress, a, observe.KeyError, err)
		}
		for _, e := range entries {
			s.m.wake(e.ID)
		}
	}
}

// unroute forgets which addresses are routed to this thread, and returns them.
func (s *Stream) unroute() []Address {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	var out []Address
	for a, thread := range s.m.routes {
		if thread == s.thread {
			out = append(out, a)
			delete(s.m.routes, a)
		}
	}
	slices.Sort(out)
	return out
}

// close ends the Step, where one lives.
func (s *Stream) close() {
	if s.live != nil && s.live.step != nil {
		_ = s.live.step.Close()
	}
	s.live = nil
}
