package bolt

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"orebot/core/ledger"
	"orebot/core/session"
)

var errShort = errors.New("it is too short")

// encodeLog returns kind and body.
func encodeLog(r session.LogRecord) ([]byte, error) {
	body, err := logBody(r)
	if err != nil {
		return nil, err
	}
	v := newValue(1 + len(body))
	return append(append(v, byte(r.Kind)), body...), nil
}

func logBody(r session.LogRecord) ([]byte, error) {
	switch r.Kind {
	case session.KindTurn:
		return fieldJSON(r.Kind, r.Turn)
	case session.KindEnd:
		return fieldJSON(r.Kind, r.End)
	case session.KindTip:
		return fieldJSON(r.Kind, r.Tip)
	case session.KindSetting:
		return fieldJSON(r.Kind, r.Setting)
	case session.KindFinal:
		return fieldJSON(r.Kind, r.Final)
	case session.KindAmendment:
		return fieldJSON(r.Kind, r.Amendment)
	case session.KindRetold:
		return fieldJSON(r.Kind, r.Retold)
	}
	if r.Kind == 0 {
		return nil, errors.New("it has no kind")
	}
	return r.Raw, nil
}

func fieldJSON[T any](k session.LogKind, field *T) ([]byte, error) {
	if field == nil {
		return nil, fmt.Errorf("it is of kind %q and has none", k)
	}
	return json.Marshal(field)
}

// decodeLog reads what encodeLog wrote behind the format. The record shares no memory with v.
func decodeLog(seq ledger.Seq, v []byte) (session.LogRecord, error) {
	if len(v) < 1 || v[0] == 0 {
		return session.LogRecord{}, errShort
	}
	r := session.LogRecord{Seq: seq, Kind: session.LogKind(v[0])}
	body := v[1:]
	var err error
	switch r.Kind {
	case session.KindTurn:
		r.Turn, err = decodeJSON[ledger.Turn](body)
	case session.KindEnd:
		r.End, err = decodeJSON[session.EndRecord](body)
	case session.KindTip:
		r.Tip, err = decodeJSON[session.TipMove](body)
	case session.KindSetting:
		r.Setting, err = decodeJSON[session.Setting](body)
	case session.KindFinal:
		r.Final, err = decodeJSON[session.Final](body)
	case session.KindAmendment:
		r.Amendment, err = decodeJSON[session.Amendment](body)
	case session.KindRetold:
		r.Retold, err = decodeJSON[session.Retold](body)
	default:
		r.Raw = slices.Clone(body)
	}
	return r, err
}

func decodeJSON[T any](body []byte) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, err
	}
	return v, nil
}

// encodeRecord returns a revision and the JSON of a binding, a cursor or a presence.
func encodeRecord(rev session.Revision, record any) ([]byte, error) {
	body, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return append(append(newValue(len(rev)+len(body)), rev[:]...), body...), nil
}

// decodeRecord reads what encodeRecord wrote behind the format.
func decodeRecord[T any](v []byte) (record T, rev session.Revision, err error) {
	rev, body, err := revisionOf(v)
	if err != nil {
		return record, rev, err
	}
	return record, rev, json.Unmarshal(body, &record)
}

func revisionOf(v []byte) (rev session.Revision, body []byte, err error) {
	if len(v) < len(rev) {
		return rev, nil, errShort
	}
	return session.Revision(v[:len(rev)]), v[len(rev):], nil
}

// encodeThread returns revision, last record, JSON.
func encodeThread(rev session.Revision, t session.Thread) ([]byte, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	v := append(newValue(len(rev)+8+len(body)), rev[:]...)
	v = binary.BigEndian.AppendUint64(v, uint64(t.Last))
	return append(v, body...), nil
}

func threadLast(v []byte) (rev session.Revision, last ledger.Seq, body []byte, err error) {
	rev, body, err = revisionOf(v)
	if err != nil || len(body) < 8 {
		return rev, 0, nil, errShort
	}
	return rev, ledger.Seq(binary.BigEndian.Uint64(body)), body[8:], nil
}

// decodeThread reads what encodeThread wrote behind the format.
func decodeThread(v []byte) (t session.Thread, rev session.Revision, err error) {
	rev, last, body, err := threadLast(v)
	if err != nil {
		return t, rev, err
	}
	if err := json.Unmarshal(body, &t); err != nil {
		return t, rev, err
	}
	if t.Last != last {
		return t, rev, fmt.Errorf("it says that its last record is %d and that it is %d", last, t.Last)
	}
	return t, rev, nil
}

// entryHead is what the committer and the indexes need to know of an entry, in front of its JSON.
type entryHead struct {
	rev   session.Revision
	state session.EntryState
	end   session.End
	hour  uint32
	order string
}

// hourOffset is where the hour stands in an entry's value, behind the format.
const hourOffset = 16 + 1 + 1

func encodeEntry(h entryHead, e session.Entry) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	v := append(newValue(hourOffset+5+len(h.order)+len(body)), h.rev[:]...)
	v = append(v, byte(h.state), byte(h.end))
	v = binary.BigEndian.AppendUint32(v, h.hour)
	v = append(append(v, byte(len(h.order))), h.order...)
	return append(v, body...), nil
}

// decodeEntryHead reads the front of an entry's value and returns the JSON behind it.
func decodeEntryHead(v []byte) (h entryHead, body []byte, err error) {
	if len(v) < hourOffset+5 {
		return h, nil, errShort
	}
	h.rev = session.Revision(v[:16])
	h.state, h.end = session.EntryState(v[16]), session.End(v[17])
	h.hour = binary.BigEndian.Uint32(v[hourOffset:])
	n, rest := int(v[hourOffset+4]), v[hourOffset+5:]
	if len(rest) < n {
		return h, nil, errShort
	}
	h.order = string(rest[:n])
	return h, rest[n:], nil
}

// decodeEntry reads what encodeEntry wrote behind the format.
func decodeEntry(id session.EntryID, v []byte) (session.StoredEntry, error) {
	h, body, err := decodeEntryHead(v)
	if err != nil {
		return session.StoredEntry{}, err
	}
	e, err := decodeJSON[session.Entry](body)
	if err != nil {
		return session.StoredEntry{}, err
	}
	if e.ID != id || e.State != h.state || e.End != h.end || e.Inbound.Order != h.order {
		return session.StoredEntry{}, errors.New("its key, its front and its body differ")
	}
	return session.StoredEntry{Entry: *e, Rev: h.rev}, nil
}

func encodeSeq(n uint64) []byte { return binary.BigEndian.AppendUint64(newValue(8), n) }

func decodeSeq(v []byte) (uint64, error) {
	if len(v) != 8 {
		return 0, errShort
	}
	return binary.BigEndian.Uint64(v), nil
}

func encodeRef(r session.MessageRef) []byte {
	v := append(newValue(32), r.Thread[:]...)
	v = binary.BigEndian.AppendUint64(v, uint64(r.Seq))
	return binary.BigEndian.AppendUint64(v, uint64(r.Offset))
}

func decodeRef(v []byte) (r session.MessageRef, err error) {
	if len(v) != 32 {
		return r, errShort
	}
	r.Thread = ledger.ThreadID(v[:16])
	r.Seq = ledger.Seq(binary.BigEndian.Uint64(v[16:]))
	r.Offset = int(binary.BigEndian.Uint64(v[24:]))
	return r, nil
}
