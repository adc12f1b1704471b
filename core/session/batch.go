package session

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"orebot/core/ledger"
)

// BatchID names a Batch. It is chosen by the writer, is the same when the same Batch is tried again, and never zero.
type BatchID [16]byte

// NewBatchID returns a fresh random id.
func NewBatchID() BatchID {
	var id BatchID
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// String returns 32 hexadecimal digits.
func (id BatchID) String() string { return hex.EncodeToString(id[:]) }

// Revision of a record outside the log: the id of the Batch that wrote it last. Zero means that the record must be absent.
// Since the writer chose that id, it may name a record again in a later Batch before the first one is durable: Batches are
// applied in order, and if the first fails, the second finds another revision and fails with a Conflict.
type Revision = BatchID

// Limits of one Batch; a Commit beyond them fails with ErrTooLarge.
const (
	MaxBatchWrites = 500
	MaxValueBytes  = 512 << 10
	MaxBatchBytes  = 4 << 20
)

// Patience is how long a store may hold a patient Batch back.
const Patience = 10 * time.Millisecond

// Batch is a set of writes that are applied together or not at all. It has at least one precondition, and names each record
// outside the log at most once. A failed precondition costs only this Batch.
type Batch struct {
	ID BatchID

	// Patient says that nobody waits for the outcome: the store may hold the Batch back for up to Patience, so that it shares a
	// commit with what follows. Its place in the order stays.
	Patient bool
	// Thread, where set, orders the Batch behind the earlier ones of that thread.
	Thread ledger.ThreadID
	// After is the precondition of a Batch with log records: the last sequence its writer knows (0: the thread is new).
	After ledger.Seq
	// Log holds the new records, numbered densely from After+1.
	Log []LogRecord
	// State replaces what is known of the thread; required where Log isn't empty, with Last equal to the last record's number.
	State *Thread
	// Rewrites replace records that are on the log already: a deletion overwrites what its author took back, so that nothing is left
	// of it, and a question that is being answered takes in what belongs to it and came late. They need State, like new records. Each names a record up to After, once.
	Rewrites []LogRecord

	Bindings  []BindingWrite
	Cursors   []CursorWrite
	Presences []PresenceWrite
	Entries   []EntryWrite
	Due       []DueWrite
	Index     []IndexWrite
	Small     []SmallWrite
}

// BindingWrite puts an address's binding if its revision is still Rev.
type BindingWrite struct {
	Address Address
	Rev     Revision
	Binding Binding
}

// CursorWrite puts an address's cursor if its revision is still Rev. An Optional one is the intent that the final Batch adds: if
// its precondition is the only one that fails, the Conflict says so (OnlyOptional).
type CursorWrite struct {
	Address  Address
	Rev      Revision
	Cursor   Cursor
	Optional bool
}

// PresenceWrite puts or, with a nil Presence, drops an address's presence.
type PresenceWrite struct {
	Address  Address
	Rev      Revision
	Presence *Presence
}

// EntryWrite puts an entry if its revision is still Rev; a zero Rev accepts a new one. Expires, where not zero, says when the
// entry may be forgotten once it no longer waits; the store keeps an earlier expiry if it is zero.
type EntryWrite struct {
	Rev     Revision
	Entry   Entry
	Expires time.Time
}

// DueWrite maintains the index of addresses that are behind. It has no precondition: Raise notes that record Seq of the log is to
// be delivered there, and keeps the higher of two; Drop removes the note unless a record above Seq has raised it since; Anew puts Seq
// whatever the note was, for an address that goes on in another thread, whose numbers mean something else.
type DueWrite struct {
	Address Address
	Seq     ledger.Seq
	Drop    bool
	Anew    bool
}

// IndexWrite notes which record a platform message shows. It has no precondition; a later note for the same message wins.
type IndexWrite struct {
	Address Address
	Message string
	Ref     MessageRef
}

// SmallWrite puts a small keyed value (access, codes, usage) if its revision is still Rev; a nil Value drops it.
type SmallWrite struct {
	Space string
	Key   string
	Rev   Revision
	Value []byte
}

// Result of an applied Batch. Every record outside the log that it named now has the revision Rev.
type Result struct {
	Rev  Revision
	Last ledger.Seq // the thread's last record, where the Batch had log records
}
