package conduittest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

// Writer writes the log of one thread as its Stream would. It isn't safe for concurrent use.
type Writer struct {
	Store  session.Store
	Thread ledger.ThreadID
	// Life, where set, lets each record that is delivered add the first intent of an address that is caught up.
	Life string

	state session.Thread
}

// NewWriter returns the writer of a thread that doesn't exist yet, named by n.
func NewWriter(store session.Store, n byte) *Writer {
	return &Writer{Store: store, Thread: ledger.ThreadID{0: n, 15: 1}}
}

// Last is the newest record.
func (w *Writer) Last() ledger.Seq { return w.state.Last }

// Places returns the addresses that are bound.
func (w *Writer) Places() []session.Address { return w.state.Addresses }

// Bind binds addresses to the thread from its next record on.
func (w *Writer) Bind(as ...session.Address) error {
	b := session.Batch{}
	for _, a := range as {
		w.state.Addresses = append(w.state.Addresses, a)
		bind := session.Binding{Thread: w.Thread, From: w.state.Last + 1}
		b.Bindings = append(b.Bindings, session.BindingWrite{Address: a, Binding: bind})
	}
	return w.commit(b)
}

// User appends what somebody wrote at an address; the others are due.
func (w *Writer) User(from session.Address, author, text string) error {
	t := w.turn(ledger.RoleUser, text)
	t.Provenance, t.Author = string(from), author
	return w.deliver(session.LogRecord{Kind: session.KindTurn, Turn: &t}, func(a session.Address) bool { return a != from })
}

// Edit appends an amendment of a question; those are due to whom the question was shown.
func (w *Writer) Edit(from session.Address, turn ledger.Seq, text string) error {
	body, err := json.Marshal([]artifact.Artifact{artifact.Text{Content: text}})
	if err != nil {
		return err
	}
	am := session.Amendment{Turn: turn, Artifacts: body, Entry: session.EntryID{Address: from, Key: "q"}}
	rec := session.LogRecord{Kind: session.KindAmendment, Amendment: &am}
	return w.deliver(rec, func(a session.Address) bool { return a != from })
}

// Rewrite makes a question's record say something else, nothing if text is empty, and appends a record that says so.
func (w *Writer) Rewrite(from session.Address, turn ledger.Seq, text string) error {
	recs, err := w.Store.Log(context.Background(), w.Thread, turn, 1)
	if err != nil {
		return err
	}
	recs[0].Turn.Artifacts = nil
	if text != "" {
		recs[0].Turn.Artifacts = []artifact.Artifact{artifact.Text{Content: text}}
	}
	rec := session.LogRecord{Kind: session.KindRetold, Retold: &session.Retold{Turn: turn}}
	return w.deliver(rec, func(a session.Address) bool { return a != from }, recs...)
}

// Answer appends a final turn that ends the given entries.
func (w *Writer) Answer(text string, ended ...session.EntryID) error {
	t := w.turn(ledger.RoleAssistant, text)
	for _, id := range ended {
		t.Entries = append(t.Entries, id.String())
	}
	return w.deliver(session.LogRecord{Kind: session.KindTurn, Turn: &t}, everywhere)
}

// Turn appends a turn that is shown nowhere.
func (w *Writer) Turn(t ledger.Turn) error {
	t.ID, t.Parent, t.Time = ledger.TurnID{Thread: w.Thread, Seq: w.state.Last + 1}, w.state.Tip, time.Now()
	return w.deliver(session.LogRecord{Kind: session.KindTurn, Turn: &t}, nowhere)
}

// Notice appends an end record for an address.
func (w *Writer) Notice(to session.Address, text string, ended ...session.EntryID) error {
	return w.End(session.EndRecord{Entries: ended, To: to, Severity: loop.SeverityInfo, Text: text, Ref: "7f3a"})
}

// End appends an end record.
func (w *Writer) End(e session.EndRecord) error {
	e.Time = time.Now()
	return w.deliver(session.LogRecord{Kind: session.KindEnd, End: &e}, func(a session.Address) bool { return a == e.To })
}

// Leave ends what an address sees of the thread with a notice, and binds it to the other writer's thread, as a command for a fresh
// conversation does.
func (w *Writer) Leave(a session.Address, to *Writer, text string) error {
	st, err := w.Store.Address(context.Background(), a)
	if err != nil {
		return err
	}
	e := session.EndRecord{To: a, Severity: loop.SeveritySuccess, Text: text, Time: time.Now()}
	b := session.Batch{Thread: w.Thread, After: w.state.Last}
	w.state.Last++
	next := session.Binding{Thread: to.Thread, From: to.state.Last + 1, Leg: st.Binding.Leg + 1}
	legs, _ := st.Serving()
	legs[len(legs)-1].Until = w.state.Last
	next.Before = legs
	w.state.Addresses = slices.DeleteFunc(slices.Clone(w.state.Addresses), func(o session.Address) bool { return o == a })
	to.state.Addresses = append(to.state.Addresses, a)
	state := w.state
	b.Log, b.State = []session.LogRecord{{Seq: state.Last, Kind: session.KindEnd, End: &e}}, &state
	b.Bindings = []session.BindingWrite{{Address: a, Rev: st.BindingRev, Binding: next}}
	b.Due = []session.DueWrite{{Address: a, Seq: state.Last}}
	return w.commit(b)
}

// Promote makes a draft final.
func (w *Writer) Promote(draft ledger.Seq) error {
	return w.deliver(session.LogRecord{Kind: session.KindFinal, Final: &session.Final{Turn: draft}}, everywhere)
}

// Ask stores a message that is to be ended by a record of the thread, and returns its id.
func (w *Writer) Ask(a session.Address, key string) (session.EntryID, error) {
	in := session.Inbound{Key: key, Address: a, Order: key, Message: "asked-" + key, At: time.Now(), Text: "?"}
	e := session.Entry{ID: in.ID(), Inbound: in, State: session.EntryEnded, End: session.EndAnswered, Thread: w.Thread}
	return e.ID, w.commit(session.Batch{Entries: []session.EntryWrite{{Entry: e, Expires: time.Now().Add(24 * time.Hour)}}})
}

func everywhere(session.Address) bool { return true }
func nowhere(session.Address) bool    { return false }

func (w *Writer) turn(role ledger.Role, text string) ledger.Turn {
	return ledger.Turn{
		ID: ledger.TurnID{Thread: w.Thread, Seq: w.state.Last + 1}, Parent: w.state.Tip, Role: role, Time: time.Now(),
		Artifacts: []artifact.Artifact{artifact.Text{Content: text}},
	}
}

// deliver appends a record and raises due for the addresses that are to see it.
func (w *Writer) deliver(rec session.LogRecord, to func(session.Address) bool, rewrites ...session.LogRecord) error {
	b := session.Batch{Thread: w.Thread, After: w.state.Last, Rewrites: rewrites}
	rec.Seq = w.state.Last + 1
	w.state.Last = rec.Seq
	if rec.Kind == session.KindTurn {
		w.state.Tip = rec.Seq
	}
	state := w.state
	b.Log, b.State = []session.LogRecord{rec}, &state
	for _, a := range w.state.Addresses {
		if to(a) {
			b.Due = append(b.Due, session.DueWrite{Address: a, Seq: rec.Seq})
			b.Cursors = append(b.Cursors, w.intent(a, rec.Seq)...)
		}
	}
	return w.commit(b)
}

// intent is the first intent of an address that has nothing else to deliver.
func (w *Writer) intent(a session.Address, seq ledger.Seq) []session.CursorWrite {
	st, err := w.Store.Address(context.Background(), a)
	if w.Life == "" || err != nil || st.Cursor.Leg != st.Binding.Leg || st.Due != 0 || st.Cursor.Attempt != nil {
		return nil
	}
	cur := session.Cursor{Seq: seq, Leg: st.Cursor.Leg, Attempt: &session.Attempt{N: 1, Since: time.Now(), Life: w.Life}}
	return []session.CursorWrite{{Address: a, Rev: st.CursorRev, Cursor: cur, Optional: true}}
}

// commit commits, a second time without first intents if a courier has moved a cursor meanwhile.
func (w *Writer) commit(b session.Batch) error {
	b.ID = session.NewBatchID()
	_, err := session.CommitWait(context.Background(), w.Store, b)
	if err != nil && len(b.Cursors) > 0 {
		b.ID, b.Cursors = session.NewBatchID(), nil
		_, err = session.CommitWait(context.Background(), w.Store, b)
	}
	if err != nil {
		return fmt.Errorf("writer: %w", err)
	}
	return nil
}
