package session

import (
	"context"
	"slices"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// joins tells which of the messages that wait belong to a job in hand: members of a group of it, by the same author, that came after
// the group had settled. Most are forwards behind their comment, which waits for them hardly at all. What ends in a line of its own
// stays by itself.
func (s *Stream) joins(j *job) func(StoredEntry) bool {
	open := len(j.entries) > 0 && !j.done && !j.closed && j.stop == nil && !s.isCommand(*j.first())
	return func(e StoredEntry) bool {
		if !open || e.Inbound.Group == "" || e.State != EntryOpen || e.Refusal != "" || e.Over != "" || s.isCommand(e) || s.m.isDropped(e) {
			return false
		}
		here := func(o StoredEntry) bool { return o.ID == e.ID }
		return slices.ContainsFunc(j.entries, func(o StoredEntry) bool { return sameGroup(o, e) }) && !slices.ContainsFunc(j.entries, here)
	}
}

// letJoin makes what has come late a part of the job, and notes until when still more may come. What was made of the job's messages
// so far is made anew.
func (s *Stream) letJoin(j *job) error {
	joins := s.joins(j)
	if slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return e.Inbound.Group != "" }) {
		if err := s.letIn(j.addr, joins); err != nil {
			return &storeError{err}
		}
	}
	rest := s.waiting[:0:0]
	for _, e := range s.waiting {
		if !joins(e) {
			rest = append(rest, e)
			continue
		}
		e.Starts = j.first().Starts
		j.entries = append(j.entries, e)
		s.noteGroup(e)
		if until := s.settles[e.ID]; until.After(j.settles) {
			j.settles = until
		}
		delete(s.settles, e.ID)
	}
	s.waiting = rest
	inOrder(j.entries)
	if len(j.late()) == len(j.entries) { // what was on the log has been taken back
		j.turn = 0
	}
	return nil
}

// late returns the messages of a submitted job that its user turn doesn't hold yet.
func (j *job) late() []StoredEntry {
	return slices.DeleteFunc(slices.Clone(j.entries), func(e StoredEntry) bool { return j.turn == 0 || e.State != EntryOpen })
}

// settled waits until no more members of the job's groups may come. It is over, or an error, where something else came first.
func (s *Stream) settled(ctx context.Context, j *job) (over bool, err error) {
	wait := time.Until(j.settles)
	if wait <= 0 {
		return false, nil
	}
	if err := s.pause(ctx, j, wait); err != nil {
		return s.failed(ctx, j, err, 1, time.Now())
	}
	return false, nil
}

// enlarge makes what has come late a part of the user turn that is being answered: their files are read, and one Batch makes the turn
// hold all of the messages, submits those that it didn't hold, and leaves what the old question led to beside the path.
func (s *Stream) enlarge(ctx context.Context, j *job) (over bool, err error) {
	late := &job{addr: j.addr, entries: j.late()}
	if len(late.entries) == 0 {
		return false, nil
	}
	s.named(j)
	var got gathered
	model := s.model()
	if err := s.apart(j, func() (err error) {
		if got.files, got.lines, err = s.attach(ctx, late); err == nil {
			got.see(s.blind(ctx, model, got.files))
		}
		return err
	}); err != nil {
		if over, err := s.failed(ctx, j, err, 1, time.Now()); over || err != nil {
			return true, err
		}
		return s.enlarge(ctx, j)
	}
	for _, line := range got.lines {
		j.tellBeside(line)
	}
	if err := s.putEnlarged(j, got.files); err != nil {
		return s.failed(ctx, j, err, 1, time.Now())
	}
	return false, nil
}

// putEnlarged commits what enlarge has made ready. A turn of which nobody can tell what came from which message stays as it is: what
// came late is then a turn of its own.
func (s *Stream) putEnlarged(j *job, files map[EntryID][]artifact.Artifact) error {
	t, ok := s.live.led.Turn(j.turn)
	if !ok || !filesOf(t, files) {
		s.sendAway(j)
		return nil
	}
	j.bare = s.nothing(j)
	t.Artifacts, t.Parts = prompt(j.spoken(), files)
	t.Entries = entryNames(j.entries)
	if plainParts(t.Parts) {
		t.Parts = nil
	}
	amended, err := s.amendments(j.turn)
	if err != nil {
		return &storeError{err}
	}
	var recs []LogRecord
	if s.live.state.Tip != j.turn {
		recs = []LogRecord{{Kind: KindTip, Tip: &TipMove{To: j.turn}}}
	}
	rewrites := append([]LogRecord{{Seq: j.turn, Kind: KindTurn, Turn: &t}}, hollow(amended)...)
	b := s.batch(s.retells(recs, rewrites)...)
	b.Rewrites = rewrites
	s.submitEntries(&b, j)
	s.follow(&b, j.addr)
	if err := s.commit(b); err != nil {
		return err
	}
	s.followed(b)
	return nil
}

// filesOf adds the files that a turn's messages brought; it reports whether it could tell them apart.
func filesOf(t ledger.Turn, files map[EntryID][]artifact.Artifact) bool {
	parts, ok := partsOf(t)
	if !ok {
		return false
	}
	for i, name := range t.Entries {
		id, err := ParseEntryID(name)
		if err != nil {
			return false
		}
		if end := ahead(parts, i+1); parts[i].Files > 0 {
			files[id] = t.Artifacts[end-parts[i].Files : end]
		}
	}
	return true
}

// sendAway lets what came late wait again, as messages that the job has nothing to do with.
func (s *Stream) sendAway(j *job) {
	j.closed = true
	s.waiting = append(s.waiting, j.late()...)
	j.entries = slices.DeleteFunc(j.entries, func(e StoredEntry) bool { return e.State == EntryOpen })
}
