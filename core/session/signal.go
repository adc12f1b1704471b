package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"orebot/core/access"
	"orebot/core/ledger"
)

// judgeSignal decides what becomes of an edit or a deletion: an entry of its own, which waits until it is applied, or the reason to
// ignore it. An edit that nobody would have listened to as a message is nothing; what is deleted is deleted, whoever wrote it.
func (m *Manager) judgeSignal(ctx context.Context, in Inbound, p Platform) (e Entry, ignored string, err error) {
	if in.Signal == SignalEdit {
		switch v := p.Policy.Decide(person(in.Author), in.Place); v.Outcome {
		case access.Ignore:
			return Entry{}, IgnoredBot, nil
		case access.Refuse:
			return Entry{}, IgnoredSignal, nil
		}
		state, err := m.addressed(ctx, in, p.Follow)
		if err != nil || state == EntryEnded && (in.Group == "" || in.Elsewhere) { // a member of a group may be kept for its sake
			return Entry{}, IgnoredSignal, err
		}
	}
	e = Entry{ID: in.ID(), Inbound: in, State: EntrySignal}
	if !in.fits() || m.tooBig(in) {
		e.Inbound, e.Oversize, e.Size = in.without(), true, len(in.Text)
		e.Inbound.Target = in.Target
	}
	return e, "", nil
}

// targetOf names the message that a signal is about.
func targetOf(sig StoredEntry) EntryID {
	return EntryID{Address: sig.ID.Address, Key: sig.Inbound.TargetKey}
}

// concerns reports whether a signal is about one of a job's messages, or about the question that a retry answers again.
func (s *Stream) concerns(j *job, sig StoredEntry) bool {
	id := targetOf(sig)
	if j.holds(id) {
		return true
	}
	if j.turn == 0 || s.live == nil {
		return false
	}
	t, ok := s.live.led.Turn(j.turn)
	return ok && slices.Contains(t.Entries, id.String())
}

// errChanged is why a turn is interrupted whose messages were edited or deleted, or get company.
var errChanged = errors.New("session: the messages of this turn have changed")

// heed interrupts a job that a signal concerns, or that another message belongs to. Both are taken in once the job has let go of the
// thread; a signal about something else, before the next prompt goes out.
func (s *Stream) heed(j *job) {
	if len(s.signals) > 0 {
		j.changed.Store(true)
	}
	concerned := slices.ContainsFunc(s.signals, func(sig StoredEntry) bool { return s.concerns(j, sig) })
	if j.cancel != nil && !j.done && (concerned || slices.ContainsFunc(s.waiting, s.joins(j))) {
		j.cancel(errChanged)
	}
}

// settleSignals applies what has come in about messages that no job works on.
func (s *Stream) settleSignals() error {
	return s.applyAll(nil)
}

// settleChanges applies what has come in while a job was in hand that was interrupted, and lets those join it that belong to it. The job
// is over where none of its messages is left.
func (s *Stream) settleChanges(j *job) (over bool, err error) {
	j.changed.Store(false)
	err = s.applyAll(j)
	if len(j.entries) == 0 || err != nil {
		return len(j.entries) == 0, err
	}
	return false, s.letJoin(j)
}

// applyAll applies the signals in the order in which they came. What fails stays, and what follows it.
func (s *Stream) applyAll(j *job) error {
	for len(s.signals) > 0 {
		if err := s.hydrate(s.m.turns); err != nil {
			return err
		}
		if err := guarded(func() error { return s.apply(s.signals[0], j) }); err != nil {
			return err
		}
		s.signals = slices.Delete(s.signals, 0, 1)
	}
	return nil
}

// maxApply is how often a signal is applied anew because what it is about has changed meanwhile.
const maxApply = 5

// apply brings a signal to its effect: one Batch with it and the note that it is done.
func (s *Stream) apply(sig StoredEntry, j *job) error {
	for try := 1; ; try++ {
		err := s.applyOnce(sig, j)
		var c *Conflict
		if !errors.As(err, &c) || c.What == "log" || try == maxApply {
			return err
		}
	}
}

func (s *Stream) applyOnce(sig StoredEntry, j *job) error {
	e, err := s.target(targetOf(sig), j)
	switch {
	case err != nil:
		return err
	case e == nil:
		return s.applyUnknown(sig)
	case e.State.IsSignal() || e.Deleted || (e.Refusal != "" || e.Over != "" || e.Join != nil) && sig.Inbound.Signal == SignalEdit:
		return s.done(sig)
	case (e.Turn != 0 || e.EndSeq != 0) && e.Thread != s.thread:
		s.m.wakeIn(e.Thread, sig.ID)
		return nil
	case sig.Inbound.Signal == SignalDelete:
		return s.applyDelete(sig, e, j)
	default:
		return s.applyEdit(sig, e, j)
	}
}

// target finds the message that a signal is about: in hand, waiting, or stored; nil where there is none.
func (s *Stream) target(id EntryID, j *job) (*StoredEntry, error) {
	if j != nil {
		for i := range j.entries {
			if j.entries[i].ID == id {
				return &j.entries[i], nil
			}
		}
	}
	for i := range s.waiting {
		if s.waiting[i].ID == id {
			return &s.waiting[i], nil
		}
	}
	e, ok, err := s.m.cfg.Store.Entry(s.m.turns, id)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return &StoredEntry{Entry: Entry{ID: id, State: EntryApplied}}, nil // nothing can be done about it
	}
	if err != nil || !ok {
		return nil, err
	}
	return &e, nil
}

// applied is the write that says that a signal needs no more work. What it said isn't kept.
func (s *Stream) applied(sig StoredEntry) EntryWrite {
	e := sig.Entry
	e.State = EntryApplied
	e.Inbound.Text, e.Inbound.Attachments, e.Inbound.Quotes, e.Inbound.ReplyURL = "", nil, nil, ""
	return EntryWrite{Rev: sig.Rev, Entry: e, Expires: time.Now().Add(s.m.cfg.KeepEntries)}
}

// done ends a signal that changes nothing.
func (s *Stream) done(sig StoredEntry) error {
	return s.put(Batch{ID: NewBatchID(), Entries: []EntryWrite{s.applied(sig)}})
}

// change commits what a signal does: to the message, to the log (recs, and rewrites of what is there), and to the signal itself.
func (s *Stream) change(sig StoredEntry, e *StoredEntry, recs, rewrites []LogRecord) error {
	b, wider := Batch{ID: NewBatchID()}, false
	if len(recs)+len(rewrites) > 0 {
		var err error
		if rewrites, err = s.rewriteAhead(rewrites); err != nil {
			return err
		}
		b = s.batch(s.retells(recs, rewrites)...)
		b.Rewrites = rewrites
		s.follow(&b, sig.ID.Address)
		if wider, err = s.widen(&b); err != nil {
			return err
		}
	}
	b.Entries = []EntryWrite{s.applied(sig)}
	if e != nil {
		w := EntryWrite{Rev: e.Rev, Entry: e.Entry}
		if e.State == EntryEnded && e.End == EndWithdrawn || e.State == EntryUsed {
			w.Expires = time.Now().Add(s.m.cfg.KeepEntries)
		}
		b.Entries = append(b.Entries, w)
	}
	if b.State == nil {
		if err := s.put(b); err != nil {
			return err
		}
	} else if err := s.commit(b); err != nil {
		return err
	}
	s.followed(b)
	if e != nil {
		e.Rev = b.ID
		s.m.moved(e.Entry)
	}
	if wider {
		return s.reload()
	}
	return nil
}

// applyUnknown applies a signal whose message has no entry: it has expired, was never for the bot, or is still to come.
func (s *Stream) applyUnknown(sig StoredEntry) error {
	in := sig.Inbound
	if in.Target != "" && !s.alreadyBroken() {
		ref, ok, err := s.m.cfg.Store.Message(s.m.turns, in.Address, in.Target)
		switch {
		case err != nil:
			return err
		case ok && ref.Thread != s.thread:
			s.m.wakeIn(ref.Thread, sig.ID)
			return nil
		case ok:
			return s.applyToTurn(sig, ref.Seq)
		}
	}
	if in.Signal == SignalDelete {
		return s.claim(sig, Entry{State: EntryApplied, Inbound: Inbound{Signal: in.Signal, Author: in.Author, Order: in.Order, At: in.At}})
	}
	p := s.m.cfg.Platforms[in.Address.Conduit()]
	state, err := s.m.addressed(s.m.turns, in, p.Follow)
	if err != nil {
		return err
	}
	if state == EntryEnded || s.tooOld(in) {
		return s.done(sig)
	}
	e := Entry{State: state, Inbound: in.asMessage(), Edited: in.Version, Oversize: sig.Oversize, Size: sig.Size}
	e.Inbound.Followed = state == EntryOpen && in.Call == CallAmbient
	if err := s.m.notePlace(s.m.turns, e.Inbound, false); err != nil {
		return err
	}
	return s.claim(sig, e)
}

func (s *Stream) tooOld(in Inbound) bool {
	return s.m.cfg.MaxAge > 0 && !in.At.IsZero() && time.Since(in.At) > s.m.cfg.MaxAge
}

func (s *Stream) alreadyBroken() bool { return s.live.broken != nil }

// asMessage makes of an edit the message that it is about.
func (in Inbound) asMessage() Inbound {
	in.Key, in.Signal = in.TargetKey, SignalNone
	if in.Message == "" {
		in.Message = in.Target
	}
	in.Target, in.TargetKey, in.Version = "", "", ""
	return in
}

// claim puts an entry under the key of a message that hasn't come, which will then be a duplicate: an edit that stands in for it
// (report 49), or the mark of its deletion.
func (s *Stream) claim(sig StoredEntry, e Entry) error {
	id := targetOf(sig)
	e.ID, e.Inbound.Address, e.Inbound.Key = id, id.Address, id.Key
	w := EntryWrite{Entry: e}
	if !e.State.Waits() {
		w.Expires = time.Now().Add(s.m.cfg.KeepEntries)
	}
	if err := s.put(Batch{ID: NewBatchID(), Entries: []EntryWrite{s.applied(sig), w}}); err != nil {
		return err
	}
	if !e.State.IsSignal() {
		s.m.countAccepted(e)
	}
	return nil
}

// noted lets the platform show that an edit was taken down. Nobody waits for it, and nothing follows from its failure.
func (s *Stream) noted(in Inbound) {
	if in.Target != "" {
		s.m.signs.note(in.Address, in.Target)
	}
}

// amendmentOf is the log record that makes a turn say what t says.
func amendmentOf(seq ledger.Seq, t ledger.Turn, id EntryID) (LogRecord, error) {
	arts, err := encodeArtifacts(t.Artifacts)
	return LogRecord{Kind: KindAmendment, Amendment: &Amendment{Turn: seq, Artifacts: arts, Parts: t.Parts, Entry: id}}, err
}
