package bolt

import (
	"fmt"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
)

// put is a record outside the log, encoded, with its precondition. A nil value drops the record.
type put struct {
	key      []byte
	rev      session.Revision
	value    *value
	optional bool
}

// entryPut is a put of an entry with what its indexes and the sums need.
type entryPut struct {
	put
	id   session.EntryID
	head entryHead
}

// plain is a put without precondition.
type plain struct {
	key   []byte
	value value
}

type duePut struct {
	key  []byte
	seq  ledger.Seq
	drop bool
	anew bool
}

type indexPut struct {
	address session.Address
	message string
	ref     session.MessageRef
}

// prepared is a Batch, checked and encoded.
type prepared struct {
	id      session.BatchID
	after   ledger.Seq
	last    ledger.Seq // 0: no log records
	log     []plain
	state   *plain
	puts    []put
	entries []entryPut
	due     []duePut
	index   []indexPut
	bytes   int
}

// preparer turns a Batch into a prepared one; err is the first thing wrong with it.
type preparer struct {
	prepared
	thread ledger.ThreadID
	seen   map[string]bool
	err    error
}

// prepare checks and encodes a Batch. Its errors wrap session.ErrTooLarge and say what is wrong.
func prepare(b *session.Batch) (prepared, error) {
	if err := checkShape(b); err != nil {
		return prepared{}, err
	}
	p := &preparer{thread: b.Thread, seen: make(map[string]bool, writes(b))}
	p.id, p.after = b.ID, b.After
	p.records(b)
	p.addresses(b)
	for _, w := range b.Entries {
		p.entry(w)
	}
	for _, w := range b.Small {
		p.small(w)
	}
	p.indexes(b)
	if p.err == nil && p.bytes > session.MaxBatchBytes {
		p.refuse("it holds %d bytes", p.bytes)
	}
	return p.prepared, p.err
}

func (p *preparer) refuse(format string, args ...any) {
	if p.err == nil {
		p.err = malformed(format, args...)
	}
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", session.ErrTooLarge, fmt.Sprintf(format, args...))
}

// sealed cuts an encoded value after measuring it.
func (p *preparer) sealed(key, v []byte, err error) value {
	switch {
	case err != nil:
		p.refuse("%s: %v", describe(key), err)
	case len(v)-1 > session.MaxValueBytes:
		p.refuse("%s holds %d bytes", describe(key), len(v)-1)
	default:
		out := seal(v)
		p.bytes += len(key) + out.size()
		return out
	}
	return value{}
}

// once refuses a record that the Batch has named before.
func (p *preparer) once(key []byte) []byte {
	if p.seen[string(key)] {
		p.refuse("it names %s twice", describe(key))
	}
	p.seen[string(key)] = true
	return key
}

func (p *preparer) records(b *session.Batch) {
	for _, r := range b.Log {
		key := logKey(b.Thread, r.Seq)
		v, err := encodeLog(r)
		p.log = append(p.log, plain{key, p.sealed(key, v, err)})
	}
	for _, r := range b.Rewrites {
		key := p.once(logKey(b.Thread, r.Seq))
		v, err := encodeLog(r)
		p.log = append(p.log, plain{key, p.sealed(key, v, err)})
	}
	if len(b.Log) > 0 {
		p.last = b.Log[len(b.Log)-1].Seq
	}
	if b.State != nil {
		key := stateKey(b.Thread)
		v, err := encodeThread(b.ID, *b.State)
		p.state = &plain{key, p.sealed(key, v, err)}
	}
}

func (p *preparer) addresses(b *session.Batch) {
	for _, w := range b.Bindings {
		p.record(famBinding, w.Address, w.Rev, w.Binding, false)
	}
	for _, w := range b.Cursors {
		p.record(famCursor, w.Address, w.Rev, w.Cursor, w.Optional)
	}
	for _, w := range b.Presences {
		if w.Presence == nil {
			p.drop(p.addressKey(famPresence, w.Address), w.Rev)
			continue
		}
		p.record(famPresence, w.Address, w.Rev, *w.Presence, false)
	}
}

func (p *preparer) record(family byte, a session.Address, rev session.Revision, record any, optional bool) {
	key := p.addressKey(family, a)
	v, err := encodeRecord(p.id, record)
	out := p.sealed(key, v, err)
	p.puts = append(p.puts, put{key, rev, &out, optional})
}

func (p *preparer) drop(key []byte, rev session.Revision) {
	p.bytes += len(key)
	p.puts = append(p.puts, put{key: key, rev: rev})
}

func (p *preparer) addressKey(family byte, a session.Address) []byte {
	p.address(a)
	return p.once(textKey(family, string(a)))
}

func (p *preparer) entry(w session.EntryWrite) {
	e := w.Entry
	p.address(e.ID.Address)
	p.text("entry key", e.ID.Key, maxKeyText)
	p.text("order", e.Inbound.Order, maxOrder)
	key := p.once(entryKey(e.ID))
	h := entryHead{rev: p.id, state: e.State, end: e.End, hour: hourOf(w.Expires), order: e.Inbound.Order}
	if p.err != nil {
		return
	}
	v, err := encodeEntry(h, e)
	out := p.sealed(key, v, err)
	p.entries = append(p.entries, entryPut{put{key: key, rev: w.Rev, value: &out}, e.ID, h})
}

// hourOf counts hours from 1970; zero for a zero time.
func hourOf(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(max(1, t.Unix()/3600))
}

func (p *preparer) small(w session.SmallWrite) {
	p.text("space", w.Space, maxKeyText)
	p.text("key", w.Key, maxKeyText)
	key := p.once(smallKey(w.Space, w.Key))
	if w.Value == nil {
		p.drop(key, w.Rev)
		return
	}
	v := append(newValue(len(p.id)+len(w.Value)), p.id[:]...)
	out := p.sealed(key, append(v, w.Value...), nil)
	p.puts = append(p.puts, put{key: key, rev: w.Rev, value: &out})
}

func (p *preparer) indexes(b *session.Batch) {
	for _, w := range b.Due {
		key := p.addressKey(famDue, w.Address)
		p.bytes += len(key) + 9
		p.due = append(p.due, duePut{key, w.Seq, w.Drop, w.Anew})
	}
	for _, w := range b.Index {
		p.address(w.Address)
		p.text("message", w.Message, maxKeyText)
		p.bytes += 2*len(p.once(messageKey(w.Address, w.Message))) + 64
		p.index = append(p.index, indexPut{w.Address, w.Message, w.Ref})
	}
}
