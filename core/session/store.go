package session

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/ledger"
)

// Errors of a Commit, beside *Conflict.
var (
	// ErrUnknown: the Batch may or may not be there. Committing it again settles it.
	ErrUnknown = errors.New("session: the outcome of the write is unknown")
	// ErrPaused: nothing was put; the store has no room now.
	ErrPaused = errors.New("session: the store is paused")
	// ErrClosed: nothing was put; the store is closed.
	ErrClosed = errors.New("session: the store is closed")
	// ErrTooLarge: nothing was put; the Batch is beyond its limits or malformed. Trying again won't help.
	ErrTooLarge = errors.New("session: the batch is beyond its limits")
)

// Conflict says that a precondition failed and nothing was put. What it names was found by a later read and may be incomplete.
type Conflict struct {
	What         string // such as "log", "entry slack:T1/D1 1.2", "cursor slack:T1/D1"
	Applied      bool   // a record carries this Batch's id: an earlier try of it was applied
	OnlyOptional bool   // only an optional cursor write stood in the way
}

// Error names the record.
func (c *Conflict) Error() string { return fmt.Sprintf("session: conflict on %s", c.What) }

// Committer applies Batches, in order for each thread and each record. done runs exactly once, after the commit or its
// failure, and must not block; done calls of different threads may run at once. Cancelling ctx doesn't stop a Batch that was
// taken. The caller gives the Batch away: neither it nor anything it points to is changed afterwards.
type Committer interface {
	Commit(ctx context.Context, b Batch, done func(Result, error))
}

// Feed lists the entries that wait.
type Feed interface {
	// Watch calls f for every entry that waits, and then for each that comes to wait (open) by a commit, until ctx ends; it
	// returns nil then. f must not block. An entry may be named more than once.
	Watch(ctx context.Context, f func(EntryID)) error
}

// Lease says that this process may post. bbolt's file lock always holds it.
type Lease interface {
	Acquire(ctx context.Context, name string) error
	Valid() bool
	Lost() <-chan struct{}
}

// AddressState is all that is kept of one address. A zero revision means that the record is absent.
type AddressState struct {
	Binding     Binding
	BindingRev  Revision
	Cursor      Cursor
	CursorRev   Revision
	Presence    Presence
	PresenceRev Revision
	Due         ledger.Seq // 0: not due
}

// StoredEntry is an entry with its revision, as read.
type StoredEntry struct {
	Entry
	Rev Revision
}

// SmallValue is a small value with its key and its revision, as read.
type SmallValue struct {
	Key   string
	Value []byte
	Rev   Revision
}

// Totals counts messages by how they ended: of entries that have expired, and of those still kept. Waiting counts the messages that
// have still to end. Heard ones and signals are apart: they come to no end.
type Totals struct {
	Ended   map[End]uint64
	Heard   uint64
	Signals uint64
	Waiting uint64
}

// Reader reads. What it returns is durable and may be old; it is the caller's own copy. EntriesAt, Waiting and Heard leave out entries
// that can't be read: those hold up nobody but themselves.
type Reader interface {
	// Entry returns one entry; ok is false where there is none.
	Entry(ctx context.Context, id EntryID) (e StoredEntry, ok bool, err error)
	// EntriesAt returns up to limit entries of an address, newest key last, in whatever state.
	EntriesAt(ctx context.Context, a Address, limit int) ([]StoredEntry, error)
	// Waiting returns the entries of an address that wait, by Inbound.Order.
	Waiting(ctx context.Context, a Address) ([]StoredEntry, error)
	// Heard returns the newest entries of an address that are heard and not used, at most limit, by Inbound.Order. It costs
	// nothing where there are none, however many entries the address has.
	Heard(ctx context.Context, a Address, limit int) ([]StoredEntry, error)
	// Entries returns up to limit entries of an address in whatever state, by key, after the given key ("" from the start).
	Entries(ctx context.Context, a Address, after string, limit int) ([]StoredEntry, error)
	// Address returns what is kept of an address; an unknown one is the zero AddressState.
	Address(ctx context.Context, a Address) (AddressState, error)
	// Thread returns a thread's state; ok is false where there is none.
	Thread(ctx context.Context, id ledger.ThreadID) (t Thread, rev Revision, ok bool, err error)
	// Log returns up to limit records from sequence from on, in order. A record that can't be decoded is a *CorruptError.
	Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]LogRecord, error)
	// Due returns up to limit addresses of a conduit that are behind, after the given one ("" from the start).
	Due(ctx context.Context, conduit string, after Address, limit int) ([]Address, error)
	// Places returns up to limit addresses of a conduit that hold entries of any state, in order, after the given one ("" from the
	// start). It costs one look for each address, however many entries that holds.
	Places(ctx context.Context, conduit string, after Address, limit int) ([]Address, error)
	// Pending returns up to limit addresses of any conduit at which entries wait, in order, after the given one; at the same cost.
	Pending(ctx context.Context, after Address, limit int) ([]Address, error)
	// Bound returns up to limit addresses of any conduit that are bound to a thread, in order, after the given one.
	Bound(ctx context.Context, after Address, limit int) ([]Address, error)
	// Presences returns up to limit addresses of a conduit that have a presence, in order, after the given one.
	Presences(ctx context.Context, conduit string, after Address, limit int) ([]Address, error)
	// Message looks a platform message up.
	Message(ctx context.Context, a Address, message string) (ref MessageRef, ok bool, err error)
	// Shown returns up to limit messages of an address that are noted as showing a record, by where they start and then by name.
	Shown(ctx context.Context, id ledger.ThreadID, seq ledger.Seq, a Address, limit int) ([]Shown, error)
	// Small returns a small value.
	Small(ctx context.Context, space, key string) (value []byte, rev Revision, ok bool, err error)
	// SmallList returns up to limit values of a space by key, after the given key ("" from the start).
	SmallList(ctx context.Context, space, after string, limit int) ([]SmallValue, error)
	// Totals counts.
	Totals(ctx context.Context) (Totals, error)
}

// Eraser deletes conversations.
type Eraser interface {
	// Erase deletes a thread for good: its log, its state, and what is noted of the platform's messages that show it. It does so in
	// steps of about 500 keys, each of which leaves the store whole, so that after a crash it can be called again; a thread that
	// isn't there is no error. A Batch whose writer knows more of the thread than is left fails with a Conflict.
	Erase(ctx context.Context, id ledger.ThreadID) error
}

// Store is everything the core asks of one.
type Store interface {
	Committer
	Eraser
	Feed
	Reader
}

// CorruptError says that a record can't be decoded.
type CorruptError struct {
	Thread ledger.ThreadID
	Seq    ledger.Seq // 0: not a log record
	Err    error
}

// Error names the record.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("session: thread %s, record %d can't be read: %v", e.Thread, e.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// CommitWait commits a Batch and waits for its outcome. When ctx ends first, it returns ctx's error and the Batch goes on.
func CommitWait(ctx context.Context, c Committer, b Batch) (Result, error) {
	type outcome struct {
		r   Result
		err error
	}
	ch := make(chan outcome, 1)
	c.Commit(ctx, b, func(r Result, err error) { ch <- outcome{r, err} })
	select {
	case o := <-ch:
		return o.r, o.err
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}
