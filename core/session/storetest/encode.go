package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// encoded holds the values of a Batch in the order of its writes.
type encoded struct {
	log    []logged
	old    map[ledger.Seq]logged // replaced
	state  []byte
	bodies map[string][]byte // by record name; nil: drop
}

// encoder checks a Batch while it encodes it; err is the first thing wrong.
type encoder struct {
	encoded
	size int
	err  error
}

func encode(b *session.Batch) (encoded, error) {
	e := &encoder{encoded: encoded{bodies: make(map[string][]byte), old: make(map[ledger.Seq]logged)}}
	n := len(b.Log) + len(b.Rewrites) + len(b.Bindings) + len(b.Cursors) + len(b.Presences) + len(b.Entries) + len(b.Due) + len(b.Index) + len(b.Small)
	e.must(b.ID != session.BatchID{}, "it has no id")
	e.must(n <= session.MaxBatchWrites, "%d writes", n)
	e.checkLog(b)
	e.addresses(b)
	for _, w := range b.Entries {
		e.address(w.Entry.ID.Address)
		e.key(w.Entry.ID.Key)
		e.must(!strings.Contains(w.Entry.Inbound.Order, "\x00"), "order %q", w.Entry.Inbound.Order)
		e.put(entryName(w.Entry.ID), storedEntry{w.Entry, w.Expires})
	}
	for _, w := range b.Small {
		e.key(w.Space)
		e.key(w.Key)
		e.raw(smallName(w.Space, w.Key), w.Value)
	}
	e.must(len(e.bodies) > 0 || b.State != nil, "no precondition")
	e.indexes(b)
	e.must(e.size <= session.MaxBatchBytes, "%d bytes", e.size)
	return e.encoded, e.err
}

func (e *encoder) must(ok bool, format string, args ...any) {
	if !ok && e.err == nil {
		e.err = fmt.Errorf("%w: %s", session.ErrTooLarge, fmt.Sprintf(format, args...))
	}
}

func (e *encoder) address(a session.Address) { e.must(a.Valid(), "address %q", a) }

func (e *encoder) key(k string) { e.must(k != "" && !strings.Contains(k, "\x00"), "key %q", k) }

// put encodes a record outside the log, which may be named once.
func (e *encoder) put(name string, v any) {
	body, err := json.Marshal(v)
	e.must(err == nil, "%s: %v", name, err)
	e.raw(name, body)
}

func (e *encoder) raw(name string, body []byte) {
	_, twice := e.bodies[name]
	e.must(!twice, "%s is named twice", name)
	e.must(len(body) <= session.MaxValueBytes, "%s: %d bytes", name, len(body))
	e.size += len(body)
	if body != nil {
		body = append([]byte{}, body...)
	}
	e.bodies[name] = body
}

func (e *encoder) addresses(b *session.Batch) {
	for _, w := range b.Bindings {
		e.address(w.Address)
		e.put("binding "+string(w.Address), w.Binding)
	}
	for _, w := range b.Cursors {
		e.address(w.Address)
		e.put("cursor "+string(w.Address), w.Cursor)
	}
	for _, w := range b.Presences {
		e.address(w.Address)
		if w.Presence == nil {
			e.raw("presence "+string(w.Address), nil)
			continue
		}
		e.put("presence "+string(w.Address), *w.Presence)
	}
}

// indexes checks the writes without precondition; they too may name a record once.
func (e *encoder) indexes(b *session.Batch) {
	seen := make(map[[2]string]bool)
	for _, w := range b.Due {
		e.address(w.Address)
		e.must(!seen[[2]string{string(w.Address)}], "due %s is named twice", w.Address)
		seen[[2]string{string(w.Address)}] = true
	}
	for _, w := range b.Index {
		e.address(w.Address)
		e.key(w.Message)
		id := [2]string{string(w.Address), w.Message}
		e.must(!seen[id], "message %s is named twice", w.Message)
		seen[id] = true
	}
}

func (e *encoder) checkLog(b *session.Batch) {
	if len(b.Log) == 0 && len(b.Rewrites) == 0 && b.State == nil {
		return
	}
	e.must(!b.Thread.IsZero(), "a log without a thread")
	e.must(b.State != nil, "a log without a thread state")
	last := b.After
	for _, r := range b.Log {
		last++
		e.must(r.Seq == last, "record %d where %d belongs", r.Seq, last)
		e.log = append(e.log, e.record(r, b.Thread))
	}
	for _, r := range b.Rewrites {
		_, twice := e.old[r.Seq]
		e.must(r.Seq > 0 && r.Seq <= b.After && !twice, "record %d can't be rewritten", r.Seq)
		e.old[r.Seq] = e.record(r, b.Thread)
	}
	if b.State == nil {
		return
	}
	e.must(b.State.Last == last, "the state ends at %d, the log at %d", b.State.Last, last)
	body, err := json.Marshal(b.State)
	e.must(err == nil, "state: %v", err)
	e.state = body
}

// record encodes a record of the log.
func (e *encoder) record(r session.LogRecord, id ledger.ThreadID) logged {
	e.must(ownTurn(r, id), "record %d is another turn", r.Seq)
	body, err := logBody(r)
	e.must(err == nil, "record %d: %v", r.Seq, err)
	e.must(len(body) <= session.MaxValueBytes, "record %d: %d bytes", r.Seq, len(body))
	e.size += len(body)
	return logged{r.Kind, body}
}

func ownTurn(r session.LogRecord, id ledger.ThreadID) bool {
	return r.Turn == nil || !r.Turn.Stamped() || r.Turn.ID == ledger.TurnID{Thread: id, Seq: r.Seq}
}

// fieldOf returns the field that belongs to the record's kind, as a pointer; nil for a kind that isn't known.
func fieldOf(r *session.LogRecord) (field any, set bool) {
	switch r.Kind {
	case session.KindTurn:
		return &r.Turn, r.Turn != nil
	case session.KindEnd:
		return &r.End, r.End != nil
	case session.KindTip:
		return &r.Tip, r.Tip != nil
	case session.KindSetting:
		return &r.Setting, r.Setting != nil
	case session.KindFinal:
		return &r.Final, r.Final != nil
	case session.KindAmendment:
		return &r.Amendment, r.Amendment != nil
	case session.KindRetold:
		return &r.Retold, r.Retold != nil
	}
	return nil, r.Kind != 0
}

func logBody(r session.LogRecord) ([]byte, error) {
	field, set := fieldOf(&r)
	if !set {
		return nil, fmt.Errorf("kind %q without its field", r.Kind)
	}
	if field == nil {
		return append([]byte{}, r.Raw...), nil
	}
	return json.Marshal(field)
}

func (l logged) decode(seq ledger.Seq) (session.LogRecord, error) {
	r := session.LogRecord{Seq: seq, Kind: l.kind}
	field, _ := fieldOf(&r)
	if field == nil {
		r.Raw = append([]byte{}, l.body...)
		return r, nil
	}
	return r, json.Unmarshal(l.body, field)
}
