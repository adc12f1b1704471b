package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/provider"
)

// boundState is the thread's ledger as the Step sees it. It is used apart from the worker, and lets the worker do it all.
type boundState struct{ s *Stream }

// Turns returns the active path within the live window.
func (b boundState) Turns() (path []ledger.Turn) {
	b.s.own(func() { path = b.s.live.turns() })
	return path
}

// Append stamps the turn and commits it. A user turn returns at once, since it is durable as its entries; a failure of its write
// cancels the turn in progress. A final turn is committed with the ends of its entries, and a turn with a tool call before the
// tool runs; both wait for the disk.
func (b boundState) Append(ctx context.Context, t ledger.Turn) (stamped ledger.Turn, err error) {
	b.s.own(func() { stamped, err = b.s.append(ctx, t) })
	return stamped, err
}

func (s *Stream) append(ctx context.Context, t ledger.Turn) (ledger.Turn, error) {
	s.countTokens(t)
	stamped, err := s.enter(ctx, t)
	if err != nil {
		s.owe(s.payer(), t)
	}
	return stamped, err
}

// enter is append, but for what the turn has cost.
func (s *Stream) enter(ctx context.Context, t ledger.Turn) (ledger.Turn, error) {
	if j := s.live.job; j != nil && j.stop != nil {
		return ledger.Turn{}, errStopped
	}
	if err := context.Cause(ctx); err != nil {
		return ledger.Turn{}, err
	}
	t = s.stamp(t)
	s.measure(s.live.job, t)
	s.signTools(t)
	t.ShowReasoning = t.Role == ledger.RoleAssistant && !t.HasToolCall() && s.showsReasoning() && t.Reasoning() != ""
	switch j := s.live.job; {
	case j != nil && t.Role == ledger.RoleUser && j.turn == 0:
		t.Author, t.Entries = j.first().Inbound.Author.ID, entryNames(j.entries)
		if !plainParts(j.parts) {
			t.Parts = j.parts
		}
		if in := j.last().Inbound; in.Place != "" || s.linked(j.addr) {
			t.Speaker = speaker(in.Author)
		}
		return t, s.submit(j, t)
	case j != nil && t.Final() && !j.done:
		t.Entries = entryNames(j.entries)
		return t, s.finish(j, t)
	default:
		if j != nil && t.Draft && t.Role == ledger.RoleAssistant && !t.HasToolCall() {
			t.Entries = entryNames(j.entries) // should it be promoted
		}
		return t, s.progress(j, t)
	}
}

func (s *Stream) stamp(t ledger.Turn) ledger.Turn {
	l := s.live
	t.ID = ledger.TurnID{Thread: s.thread, Seq: l.state.Last + 1}
	t.Parent = l.state.Tip
	t.Time = time.Now().UTC()
	return t
}

func entryNames(entries []StoredEntry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.ID.String()
	}
	return out
}

// batch begins a Batch that appends records to the log, numbered here.
func (s *Stream) batch(recs ...LogRecord) Batch {
	st := s.live.state
	b := Batch{ID: NewBatchID(), Thread: s.thread, After: st.Last}
	for i := range recs {
		st.Last++
		recs[i].Seq = st.Last
		switch recs[i].Kind {
		case KindTurn:
			st.Tip = recs[i].Seq
			st.Tokens = st.Tokens.Plus(tokensOf(*recs[i].Turn))
		case KindTip:
			st.Tip = recs[i].Tip.To
		case KindSetting:
			st.Settings = withSetting(st.Settings, *recs[i].Setting)
		}
	}
	st.Used = time.Now().UTC()
	st.Addresses = slices.Clone(st.Addresses)
	b.Log, b.State = recs, &st
	return b
}

// withSetting returns the settings with one changed.
func withSetting(all map[string]string, set Setting) map[string]string {
	out := maps.Clone(all)
	if out == nil {
		out = map[string]string{}
	}
	out[set.Key] = set.Value
	if set.Value == "" {
		delete(out, set.Key)
	}
	return out
}

// turnRecord wraps a stamped turn.
func turnRecord(t ledger.Turn) LogRecord { return LogRecord{Kind: KindTurn, Turn: &t} }

// take makes the Batch's effect true in memory. The Batch has been handed to the store, which has its own copy of the state.
func (l *live) take(b Batch) error {
	l.state = *b.State
	for _, r := range b.Rewrites {
		if r.Turn != nil {
			l.rewrite(*r.Turn)
		}
	}
	for _, r := range b.Log {
		if err := l.apply(r); err != nil {
			return err
		}
	}
	for _, d := range b.Due {
		if p := l.places[d.Address]; p != nil {
			p.last = max(p.last, d.Seq)
		}
	}
	return nil
}

// progress commits a turn between the question and the answer. One with a tool call must be durable before the tool runs; it
// doesn't reset the starts, because the tool may be what brings the process down.
func (s *Stream) progress(j *job, t ledger.Turn) error {
	b := s.batch(turnRecord(t))
	if err := s.charge(&b, j.payer(), tokensOf(t)); err != nil {
		return err
	}
	if t.Final() { // beside the answer of a job
		for a := range s.live.places {
			s.deliver(&b, a, t.ID.Seq)
		}
		return s.commitEnd(b)
	}
	if j != nil && j.turn != 0 && !j.done && !j.mending && j.first().Starts > 0 && !t.HasToolCall() {
		for i := range j.entries {
			j.entries[i].Starts = 0
		}
		s.writeEntries(&b, j, time.Time{})
	}
	if t.HasToolCall() {
		return s.commit(b)
	}
	return s.send(j, b)
}

// finish commits a final turn: with it, its entries have ended. One that shows nothing is no answer.
func (s *Stream) finish(j *job, t ledger.Turn) error {
	if !shows(t.Text()) {
		return errShowsNothing()
	}
	s.tellFit(j)
	b := s.batch(append([]LogRecord{turnRecord(t)}, s.besides(j)...)...)
	s.trim(&b)
	if err := s.charge(&b, j.payer(), tokensOf(t)); err != nil {
		return err
	}
	s.end(&b, j, EndAnswered, t.ID.Seq)
	s.deliverAll(&b, j, t.ID.Seq)
	err := s.commitEnd(b)
	j.done = err == nil
	return err
}

func errShowsNothing() error {
	return &provider.Error{Kind: provider.KindEmpty, Err: errors.New("the final turn shows nothing")}
}

// errNoDraft refuses to promote what is no draft of the answer being made.
var errNoDraft = errors.New("session: that is no draft of this answer")

// end writes the ends of a job's entries into the Batch.
func (s *Stream) end(b *Batch, j *job, how End, seq ledger.Seq) {
	for i := range j.entries {
		e := &j.entries[i]
		e.State, e.End, e.EndSeq, e.Thread = EntryEnded, how, seq, s.thread
		e.Starts = 0
	}
	s.writeEntries(b, j, time.Now().Add(s.m.cfg.KeepEntries))
}

// writeEntries adds the job's entries to the Batch and notes the revision they will have.
func (s *Stream) writeEntries(b *Batch, j *job, expires time.Time) {
	for i := range j.entries {
		e := &j.entries[i]
		b.Entries = append(b.Entries, EntryWrite{Rev: e.Rev, Entry: e.Entry, Expires: expires})
		e.Rev = b.ID
		s.m.moved(e.Entry)
	}
}

// bind binds the job's address to this thread where it isn't yet. One that was given up as gone is served again: somebody has just
// written there. One that is bound elsewhere is a Conflict, and so is one that isn't taken in yet: only the message of its link does that.
func (s *Stream) bind(b *Batch, j *job) error {
	a := j.addr
	st, err := s.m.cfg.Store.Address(context.Background(), a)
	bound := st.BindingRev != (Revision{})
	switch {
	case err != nil:
		return &storeError{err}
	case bound && st.Binding.Thread != s.thread, st.Binding.Joining && j.first().Join == nil:
		return &storeError{&Conflict{What: "binding " + string(a)}}
	}
	if s.live.places[a] == nil {
		s.live.places[a] = st.served()
		b.State.Addresses = append(b.State.Addresses, a)
		if !bound {
			b.Bindings = append(b.Bindings, BindingWrite{Address: a, Binding: Binding{Thread: s.thread, From: b.After + 1}})
		}
	}
	if st.Binding.Joining { // from here on it is shown what is said
		st.Binding.From = b.After + 1
	}
	if st.Binding.Gone || st.Binding.Joining {
		st.Binding.Gone, st.Binding.Joining = false, false
		b.Bindings = append(b.Bindings, BindingWrite{Address: a, Rev: st.BindingRev, Binding: st.Binding})
	}
	return nil
}

// noteWriter keeps who opened the thread, and whether somebody else has joined.
func (s *Stream) noteWriter(b *Batch, author string) {
	if b.State.Starter == "" {
		b.State.Starter = author
	}
	b.State.Shared = b.State.Shared || b.State.Starter != author
}

// deliver marks a record as due at an address and, where the address is caught up, adds the intent to post its first part: the
// courier then needs no write of its own before it posts.
func (s *Stream) deliver(b *Batch, a Address, seq ledger.Seq) {
	b.Due = append(b.Due, DueWrite{Address: a, Seq: seq})
	p := s.live.places[a]
	st, err := s.m.cfg.Store.Address(context.Background(), a)
	if err != nil || st.Cursor.Leg != st.Binding.Leg || st.Cursor.Attempt != nil || st.Cursor.Seq <= p.last && p.last > 0 || st.Binding.Gone {
		return
	}
	first := seq // a line beside it comes before it
	for _, r := range b.Log {
		if r.End != nil && r.End.To == a {
			first = min(first, r.Seq)
		}
	}
	next := Cursor{Seq: first, Leg: st.Cursor.Leg, Attempt: &Attempt{N: 1, Since: time.Now().UTC(), Life: s.m.cfg.Life}}
	b.Cursors = append(b.Cursors, CursorWrite{Address: a, Rev: st.CursorRev, Cursor: next, Optional: true})
}

// showElsewhere marks a person's turn as due at the other addresses of the thread.
func (s *Stream) showElsewhere(b *Batch, from Address, seq ledger.Seq) {
	for a := range s.live.places {
		if a != from {
			b.Due = append(b.Due, DueWrite{Address: a, Seq: seq})
		}
	}
}
