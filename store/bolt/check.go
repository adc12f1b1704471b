package bolt

import (
	"strings"
	"unicode/utf8"

	"orebot/core/ledger"
	"orebot/core/session"
)

// Limits of the text parts of keys, in bytes; bbolt's own limit for a whole key is 32 KiB.
const (
	maxKeyText = 2 << 10
	maxOrder   = 255
)

// writes counts the writes of a Batch.
func writes(b *session.Batch) int {
	return len(b.Log) + len(b.Rewrites) + len(b.Bindings) + len(b.Cursors) + len(b.Presences) + len(b.Entries) + len(b.Due) +
		len(b.Index) + len(b.Small)
}

// conditions counts the preconditions of a Batch.
func conditions(b *session.Batch) int {
	n := len(b.Bindings) + len(b.Cursors) + len(b.Presences) + len(b.Entries) + len(b.Small)
	if b.State != nil {
		n++
	}
	return n
}

// checkShape checks what can be seen without looking into the writes.
func checkShape(b *session.Batch) error {
	switch n := writes(b); {
	case b.ID == session.BatchID{}:
		return malformed("it has no id")
	case n > session.MaxBatchWrites:
		return malformed("it holds %d writes", n)
	}
	if err := checkLog(b); err != nil {
		return err
	}
	if conditions(b) == 0 {
		return malformed("it has no precondition")
	}
	return nil
}

func checkLog(b *session.Batch) error {
	if len(b.Log) == 0 && len(b.Rewrites) == 0 && b.State == nil {
		return nil
	}
	switch {
	case b.Thread.IsZero():
		return malformed("it has a log but no thread")
	case b.State == nil:
		return malformed("it has log records but no thread state")
	}
	last := b.After
	for _, r := range b.Log {
		last++
		if r.Seq != last {
			return malformed("log record %d stands where %d belongs", r.Seq, last)
		}
		if !ownTurn(b, r) {
			return malformed("log record %d is turn %s", r.Seq, r.Turn.ID)
		}
	}
	for _, r := range b.Rewrites {
		if r.Seq == 0 || r.Seq > b.After || !ownTurn(b, r) {
			return malformed("it rewrites record %d of %d", r.Seq, b.After)
		}
	}
	if b.State.Last != last {
		return malformed("its thread state ends at %d, its log at %d", b.State.Last, last)
	}
	return nil
}

// ownTurn reports whether a record that holds a stamped turn holds its own.
func ownTurn(b *session.Batch, r session.LogRecord) bool {
	return r.Turn == nil || !r.Turn.Stamped() || r.Turn.ID == ledger.TurnID{Thread: b.Thread, Seq: r.Seq}
}

func (p *preparer) address(a session.Address) {
	if !a.Valid() || len(a) > maxKeyText || !utf8.ValidString(string(a)) {
		p.refuse("%.100q is not an address", a)
	}
}

// text refuses what can't be part of a key. An empty order is one.
func (p *preparer) text(what, s string, limit int) {
	if s == "" && what != "order" || len(s) > limit || strings.Contains(s, "\x00") || !utf8.ValidString(s) {
		p.refuse("%.100q is not a usable %s", s, what)
	}
}
