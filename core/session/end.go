package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"orebot/core/access"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// ending is a line in the chat that ends messages.
type ending struct {
	how   End
	sev   loop.Severity
	text  string
	aside bool         // a question that is on the log leaves the active path: it must not be sent again
	small []SmallWrite // to be written along

	private  bool
	offers   []string
	file     string        // the text is the content of a file of this name
	lead     []LogRecord   // before the end record
	withdraw []StoredEntry // messages that end along with the job's, withdrawn
	with     func(*Batch)  // changes the Batch last
	cost     Tokens        // of what stands in lead
	about    ledger.Seq    // the question that the text quotes
	quotes   bool          // the text quotes its own messages, which are in no turn
	goesOn   bool          // the job's messages don't end: what is left of them is a question
}

// notice ends a job's messages with a line in the chat: one Batch with the end record, the ends and what is due. Only then is the
// NoticeEvent emitted, as a nudge.
func (s *Stream) notice(j *job, e ending) error {
	b := s.batch(s.records(j, e)...)
	seq := b.State.Last
	if e.quotes {
		b.Log[len(b.Log)-1].End.About = seq
	}
	if err := s.bind(&b, j); err != nil {
		return err
	}
	if e.how != EndRefused && j.first().Notice == "" {
		s.noteWriter(&b, j.first().Inbound.Author.ID)
	}
	if !e.aside && s.live.broken == nil {
		s.trim(&b)
	}
	if e.goesOn {
		s.writeEntries(&b, j, time.Time{})
	} else {
		s.end(&b, j, e.how, seq)
	}
	gone := &job{addr: j.addr, entries: e.withdraw}
	s.end(&b, gone, EndWithdrawn, seq)
	s.deliverEnds(&b, j.addr, seq)
	b.Small = e.small
	if err := s.charge(&b, j.payer(), e.cost); err != nil {
		return err
	}
	if e.with != nil {
		e.with(&b)
	}
	if err := s.commitEnd(b); err != nil {
		s.putBack(idsOf(e.withdraw))
		return err
	}
	if !e.goesOn {
		s.countEnds(j, e.how)
	}
	s.countEnds(gone, EndWithdrawn)
	s.announceEnds(b, j.addr, seq)
	return nil
}

// deliverEnds marks as due the end record of number seq, which is for the address of its messages, and what the Batch says elsewhere.
func (s *Stream) deliverEnds(b *Batch, own Address, seq ledger.Seq) {
	s.deliver(b, own, seq)
	for _, r := range b.Log {
		if r.End != nil && r.End.To != own {
			s.deliver(b, r.End.To, r.Seq)
		}
	}
}

// announceEnds emits the events of the same records, in the log's order.
func (s *Stream) announceEnds(b Batch, own Address, seq ledger.Seq) {
	for _, r := range b.Log {
		if r.End != nil && (r.Seq == seq || r.End.To != own) {
			s.announce(r)
		}
	}
}

// announce emits the event of an end record. A reference that its text ends in is the record's alone.
func (s *Stream) announce(r LogRecord) {
	ctx := loop.WithThreadID(loop.WithProvenance(context.Background(), string(r.End.To)), s.thread.String())
	n := loop.Notice{Content: r.End.said(), Severity: r.End.Severity}
	s.live.step.Emit(ctx, loop.NoticeEvent{Notice: n, Ctx: WithSeq(ctx, uint64(r.Seq))})
}

// said is the text without the reference.
func (e *EndRecord) said() string { return strings.TrimSuffix(e.Text, " (ref "+e.Ref+")") }

// records returns what an ending adds to the log: the end record, and before it the tip's move where the question is set aside.
func (s *Stream) records(j *job, e ending) []LogRecord {
	rec := &EndRecord{To: j.addr, Severity: e.sev, Text: e.text, Ref: refOf(j), Reply: j.last().Inbound.Message, Time: time.Now().UTC(),
		Offers: e.offers, Private: e.private, File: e.file, About: e.about, Always: e.how == EndRefused || j.first().Notice != ""}
	if e.sev >= loop.SeverityWarn {
		rec.Text += " (ref " + rec.Ref + ")"
	}
	if e.goesOn {
		rec.Of = j.first().ID
	}
	for _, o := range j.entries {
		if e.goesOn {
			break
		}
		rec.Entries = append(rec.Entries, o.ID)
	}
	end := LogRecord{Kind: KindEnd, End: rec}
	beside := s.besides(j)
	if t, ok := s.live.led.Turn(j.turn); ok && e.aside && s.reachable(t.Parent) {
		return append(slices.Concat([]LogRecord{{Kind: KindTip, Tip: &TipMove{To: t.Parent, Aside: j.turn}}}, beside), end)
	}
	return append(slices.Concat(e.lead, beside), end)
}

func (s *Stream) reachable(seq ledger.Seq) bool {
	_, ok := s.live.led.Turn(seq)
	return ok || seq == 0
}

// Where it is kept when a person, or a place, was told of a refusal, and for how long: meanwhile they aren't told again.
const (
	spaceRefused = "refused"
	spaceClosed  = "closed"
	refusedKept  = 24 * time.Hour
	closedKept   = 30 * 24 * time.Hour
	maxRefused   = 2000 // of a space; beyond, the rest gets silence
)

// refuse ends messages of somebody who may not talk to the bot: with a line once a day, or once for a place, with silence otherwise.
func (s *Stream) refuse(j *job, v access.Verdict) error {
	w, told, err := s.toldToday(j, v)
	if err != nil {
		return err
	}
	if told {
		return s.endSilently(j, EndRefused)
	}
	// Where another thread tells them at the same time, this is a Conflict: read again, they have been told.
	private := v.Reason != access.ReasonPlace // what concerns a place, everybody there may know
	return s.notice(j, ending{how: EndRefused, sev: loop.SeverityWarn, text: v.Text, private: private, small: []SmallWrite{w}})
}

// toldToday looks up whether this person got the refusal within a day, or this place where it is the place's, and prepares the
// note that it has.
func (s *Stream) toldToday(j *job, refusal access.Verdict) (SmallWrite, bool, error) {
	in := j.first().Inbound
	space, key, kept := spaceRefused, in.Author.ID, refusedKept
	if refusal.Reason == access.ReasonPlace {
		space, key, kept = spaceClosed, in.Place, closedKept
	}
	v, rev, known, err := s.m.cfg.Store.Small(s.m.turns, space, key)
	if err != nil {
		return SmallWrite{}, false, err
	}
	if !known {
		all, err := s.m.cfg.Store.SmallList(s.m.turns, space, "", maxRefused)
		if err != nil || len(all) >= maxRefused {
			return SmallWrite{}, true, err
		}
	}
	at, perr := time.Parse(time.RFC3339, string(v))
	now := time.Now().UTC()
	told := perr == nil && now.Sub(at) < kept
	return SmallWrite{Space: space, Key: key, Rev: rev, Value: []byte(now.Format(time.RFC3339))}, told, nil
}

// endSilently ends messages without a record in the log.
func (s *Stream) endSilently(j *job, how End) error {
	b := Batch{ID: NewBatchID()}
	for i := range j.entries {
		e := &j.entries[i]
		e.State, e.End = EntryEnded, how
	}
	s.writeEntries(&b, j, time.Now().Add(s.m.cfg.KeepEntries))
	if err := s.put(b); err != nil {
		return err
	}
	s.countEnds(j, how)
	return nil
}

// refOf is the short id that ties a notice to its log lines: four hexadecimal digits of a hash of the message's id.
func refOf(j *job) string {
	sum := sha256.Sum256([]byte(j.first().ID.String()))
	return hex.EncodeToString(sum[:2])
}
