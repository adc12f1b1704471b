package ledger

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// ThreadID names a thread. It is opaque: a hash, made where threads are opened.
type ThreadID [16]byte

// String returns 32 lower-case hexadecimal digits.
func (id ThreadID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id names no thread.
func (id ThreadID) IsZero() bool { return id == ThreadID{} }

// MarshalText returns the String form.
func (id ThreadID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the String form.
func (id *ThreadID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseThreadID(string(b))
	return err
}

// ParseThreadID reads what String wrote and nothing else: 32 lower-case
// hexadecimal digits.
func ParseThreadID(s string) (ThreadID, error) {
	var id ThreadID
	if len(s) != 2*len(id) || strings.ToLower(s) != s {
		return ThreadID{}, fmt.Errorf("ledger: thread id %q: want 32 lower-case hexadecimal digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ThreadID{}, fmt.Errorf("ledger: thread id %q: %w", s, err)
	}
	return id, nil
}

// Seq is a place in a thread's log, counted from 1. Zero is no place. Turns
// share the count with the other records of the log, so the turns of a thread
// grow in Seq but may leave gaps.
type Seq uint64

// TurnID names a turn for good: its thread and its place in that thread's log.
type TurnID struct {
	Thread ThreadID
	Seq    Seq
}

// IsZero reports whether the id names no turn.
func (id TurnID) IsZero() bool { return id == TurnID{} }

// String returns the thread's id, a dot and the sequence in decimal.
func (id TurnID) String() string {
	return id.Thread.String() + "." + strconv.FormatUint(uint64(id.Seq), 10)
}

// MarshalText returns the String form.
func (id TurnID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the String form.
func (id *TurnID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseTurnID(string(b))
	return err
}

// ParseTurnID reads what String wrote and nothing else.
func ParseTurnID(s string) (TurnID, error) {
	thread, seq, ok := strings.Cut(s, ".")
	if !ok {
		return TurnID{}, fmt.Errorf("ledger: turn id %q: no dot", s)
	}
	t, err := ParseThreadID(thread)
	if err != nil {
		return TurnID{}, fmt.Errorf("ledger: turn id %q: %w", s, err)
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != seq {
		return TurnID{}, fmt.Errorf("ledger: turn id %q: want a plain decimal sequence", s)
	}
	return TurnID{Thread: t, Seq: Seq(n)}, nil
}
