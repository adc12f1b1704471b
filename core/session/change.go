package session

import (
	"reflect"
	"slices"

	"orebot/core/ledger"
)

// applyEdit gives a message its new content: where it waits, in its entry; where it is on the log, by an amendment as well. A turn
// that was being answered begins anew from its question.
func (s *Stream) applyEdit(sig StoredEntry, e *StoredEntry, j *job) error {
	in := sig.Inbound
	if p := s.m.cfg.Platforms[in.Address.Conduit()].Namer; p != nil {
		in = p.Names(s.m.turns, in)
	}
	in = s.m.behind(e.Entry, in)
	if stale(e.Entry, in) || sig.Oversize && e.Turn != 0 || sameContent(e.Entry, in, sig.Oversize) && !s.calls(e.Entry, in) {
		return s.done(sig)
	}
	next := *e
	next.Inbound.Text, next.Inbound.Attachments, next.Inbound.Quotes, next.Inbound.Mentions = in.Text, in.Attachments, in.Quotes, in.Mentions
	next.Edited, next.Oversize, next.Size = in.Version, sig.Oversize, sig.Size
	var recs, rewrites []LogRecord
	if e.Turn != 0 && s.live.broken == nil {
		var err error
		if recs, err = s.amend(e, &next); err != nil {
			return err
		}
		if len(recs) > 0 {
			if rewrites, err = s.amendedSummaries(recs[0].Amendment); err != nil {
				return err
			}
		}
		recs = append(recs, s.rewind(e, j)...)
	}
	reopened := s.calls(e.Entry, in)
	if reopened {
		next.State, next.Thread, next.Turn, next.Inbound.Call = EntryOpen, ledger.ThreadID{}, 0, in.Call
	}
	if err := s.change(sig, &next, recs, rewrites); err != nil {
		return err
	}
	*e = next
	switch {
	case reopened:
		s.m.countAccepted(e.Entry)
	case e.State == EntryEnded && e.Turn != 0:
		s.noted(in)
	}
	return nil
}

// stale reports whether an edit is older than one that has been applied.
func stale(e Entry, in Inbound) bool { return in.Version != "" && in.Version < e.Edited }

// calls reports whether an edit makes a message out of what was only heard.
func (s *Stream) calls(e Entry, in Inbound) bool {
	return e.State.IsHeard() && !e.Deleted && in.Call != CallAmbient && !in.Elsewhere && !s.tooOld(e.Inbound)
}

// sameContent reports whether an edit says what the message says already. A platform may name a file in a new way each time.
func sameContent(e Entry, in Inbound, oversize bool) bool {
	sameFile := func(a, b Attachment) bool { return a.ID == b.ID }
	return e.Oversize == oversize && e.Inbound.Text == in.Text && slices.Equal(e.Inbound.Quotes, in.Quotes) &&
		slices.EqualFunc(e.Inbound.Attachments, in.Attachments, sameFile)
}

// amend returns the record that makes a message's turn say what the message says now; none where that can't be told apart from what
// other messages say.
func (s *Stream) amend(old, now *StoredEntry) ([]LogRecord, error) {
	t, ok, err := s.current(old.Turn)
	if err != nil || !ok {
		return nil, err
	}
	if t, ok, err = s.with(t, old.ID, &now.Entry); err != nil || !ok {
		return nil, err
	}
	rec, err := amendmentOf(old.Turn, t, old.ID)
	return []LogRecord{rec}, err
}

// rewind returns the record that makes the question of an interrupted turn the newest on the active path again: what its old text led
// to is left beside it. A job that answers it again is such a turn too; one that has left it, to look at its messages anew, isn't.
func (s *Stream) rewind(e *StoredEntry, j *job) []LogRecord {
	again := j != nil && j.turn == e.Turn
	if j != nil && j.turn == 0 && j.holds(e.ID) {
		return nil
	}
	if e.State != EntrySubmitted && !again || s.live.state.Tip == e.Turn || !s.reachable(e.Turn) {
		return nil
	}
	return []LogRecord{{Kind: KindTip, Tip: &TipMove{To: e.Turn}}}
}

// applyDelete takes a message back: what waits or runs ends withdrawn, and nothing of what it said stays, neither in its entry nor on
// the log. What was answered stays answered, and a link whose code is used is made.
func (s *Stream) applyDelete(sig StoredEntry, e *StoredEntry, j *job) error {
	next := *e
	next.Deleted, next.Asides = true, nil
	next.Inbound.Text, next.Inbound.Attachments, next.Inbound.Quotes, next.Inbound.Mentions = "", nil, nil, nil
	var recs, rewrites []LogRecord
	if e.Turn != 0 && s.live.broken == nil {
		left, rw, err := s.overwrite(e.Turn, e.ID)
		if err != nil {
			return err
		}
		rewrites = rw
		if recs = s.rewind(e, j); left == 0 && e.State == EntrySubmitted {
			recs = s.leaveOut(e.Turn)
		}
	} else if e.Turn == 0 {
		var err error
		if rewrites, err = s.withoutOwnLine(e); err != nil {
			return err
		}
	}
	withdrawn := (e.State == EntryOpen || e.State == EntrySubmitted) && e.Join == nil
	switch {
	case withdrawn:
		next.State, next.End, next.Starts = EntryEnded, EndWithdrawn, 0
	case e.State == EntryHeard:
		next.State = EntryUsed
	}
	if err := s.change(sig, &next, recs, rewrites); err != nil {
		return err
	}
	if withdrawn {
		s.countEnds(&job{addr: e.ID.Address, entries: []StoredEntry{next}}, EndWithdrawn)
	}
	if len(e.Inbound.Attachments) > 0 || e.Edited != "" { // of an edited one it isn't known what it had before
		s.m.filesLeft()
	}
	id := e.ID
	*e = next
	gone := func(o StoredEntry) bool { return o.ID == id && !o.State.Waits() }
	s.waiting = slices.DeleteFunc(s.waiting, gone)
	if j != nil {
		j.entries = slices.DeleteFunc(j.entries, gone)
	}
	return nil
}

// outgrow takes a question off the active path that an edit has made a command, or nothing, while it was being answered: its message is
// looked at anew, as one that isn't on the log. Its entry still names the turn, for a deletion.
func (s *Stream) outgrow(j *job) error {
	t, ok := s.live.led.Turn(j.turn)
	own := ok && slices.Contains(t.Entries, j.first().ID.String())
	if !own || len(t.Artifacts) > 0 && (len(j.entries) > 1 || !s.isCommand(*j.first())) {
		return nil
	}
	if recs := s.leaveOut(j.turn); recs != nil {
		if err := s.commit(s.batch(recs...)); err != nil {
			return err
		}
	}
	j.turn = 0
	return nil
}

// leaveOut returns the record that takes a question off the active path.
func (s *Stream) leaveOut(seq ledger.Seq) []LogRecord {
	if t, ok := s.live.led.Turn(seq); ok && s.reachable(t.Parent) {
		return []LogRecord{{Kind: KindTip, Tip: &TipMove{To: t.Parent}}}
	}
	return nil
}

// applyToTurn applies a signal to a turn whose message has no entry any more.
func (s *Stream) applyToTurn(sig StoredEntry, seq ledger.Seq) error {
	if sig.Inbound.Signal == SignalDelete {
		_, rewrites, err := s.overwrite(seq, targetOf(sig))
		if err != nil {
			return err
		}
		if err := s.change(sig, nil, nil, rewrites); err != nil {
			return err
		}
		if len(rewrites) > 0 {
			s.m.filesLeft()
		}
		return nil
	}
	now := Entry{ID: targetOf(sig), Inbound: sig.Inbound}
	t, ok, err := s.current(seq)
	if err != nil {
		return err
	}
	old := t.Artifacts
	if ok {
		if t, ok, err = s.with(t, now.ID, &now); err != nil {
			return err
		}
	}
	if !ok || sig.Oversize || reflect.DeepEqual(old, t.Artifacts) {
		return s.done(sig)
	}
	rec, err := amendmentOf(seq, t, now.ID)
	if err != nil {
		return err
	}
	rewrites, err := s.amendedSummaries(rec.Amendment)
	if err != nil {
		return err
	}
	if err := s.change(sig, nil, []LogRecord{rec}, rewrites); err != nil {
		return err
	}
	s.noted(sig.Inbound)
	return nil
}

// overwrite returns the records that replace a turn and its amendments, so that nothing of a message is left there, and how many
// artifacts the turn still has.
func (s *Stream) overwrite(seq ledger.Seq, id EntryID) (left int, rewrites []LogRecord, err error) {
	t, ok, err := s.current(seq)
	if err != nil || !ok {
		return 0, nil, err
	}
	if t, ok, err = s.with(t, id, nil); err != nil || !ok {
		return len(t.Artifacts), nil, err
	}
	rewrites = []LogRecord{{Seq: seq, Kind: KindTurn, Turn: &t}}
	amended, err := s.amendments(seq)
	rewrites = append(rewrites, hollow(amended)...)
	if err == nil {
		rewrites, err = s.withSummaries(rewrites, seq)
	}
	if err == nil {
		rewrites, err = s.withoutReasoning(rewrites, seq)
	}
	if err == nil {
		rewrites, err = s.withoutQuotes(rewrites, seq)
	}
	return len(t.Artifacts), rewrites, err
}

// hollow returns the records that leave nothing of what amendments said.
func hollow(amended []LogRecord) (rewrites []LogRecord) {
	for _, a := range amended {
		rewrites = append(rewrites, LogRecord{Seq: a.Seq, Kind: KindAmendment, Amendment: &Amendment{Entry: a.Amendment.Entry}})
	}
	return rewrites
}

// current returns a user turn as it reads now.
func (s *Stream) current(seq ledger.Seq) (ledger.Turn, bool, error) {
	if t, ok := s.live.led.Turn(seq); ok {
		return t, t.Role == ledger.RoleUser, nil
	}
	recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, seq, 1)
	if err != nil || len(recs) == 0 || recs[0].Seq != seq || recs[0].Turn == nil || recs[0].Turn.Role != ledger.RoleUser {
		return ledger.Turn{}, false, err
	}
	t := *recs[0].Turn
	amended, err := s.amendments(seq)
	if len(amended) > 0 && err == nil {
		a := amended[len(amended)-1].Amendment
		t.Parts = a.Parts
		t.Artifacts, err = a.Decode()
	}
	return t, true, err
}

// amendments returns the amendments of a turn, oldest first. It reads the log behind the turn: this is rare.
func (s *Stream) amendments(seq ledger.Seq) (out []LogRecord, err error) {
	for from := seq + 1; from <= s.live.state.Last; {
		recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, from, logPage)
		if err != nil || len(recs) == 0 {
			return out, err
		}
		for _, r := range recs {
			if r.Kind == KindAmendment && r.Amendment != nil && r.Amendment.Turn == seq {
				out = append(out, r)
			}
			from = r.Seq + 1
		}
	}
	return out, nil
}
