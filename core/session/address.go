package session

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"orebot/core/ledger"
)

// Address names a place where a conversation is held: the conduit's name, a colon, then what that conduit needs to find the
// place, such as "slack:T1/C1/1712345678.000100" or "telegram:8246/17". Its text form is on disk. It holds no space and no
// NUL. Only the conduit it names takes it apart.
type Address string

// Conduit returns the name in front of the colon, or "" where there is none.
func (a Address) Conduit() string {
	name, _, ok := strings.Cut(string(a), ":")
	if !ok {
		return ""
	}
	return name
}

// Place returns what stands behind the colon.
func (a Address) Place() string {
	_, place, _ := strings.Cut(string(a), ":")
	return place
}

// Valid reports whether the address names a conduit and a place and could be part of a key.
func (a Address) Valid() bool {
	return a.Conduit() != "" && a.Place() != "" && !strings.ContainsAny(string(a), " \x00\n")
}

// EntryID names one message: the address it was written to and a key made of its content's identity on the platform
// (team/channel/ts, chat/message id, …), so that every delivery of the same message has the same id.
type EntryID struct {
	Address Address `json:"a"`
	Key     string  `json:"k"`
}

// String returns the text form used in turns and logs: address, one space, key.
func (id EntryID) String() string { return string(id.Address) + " " + id.Key }

// IsZero reports whether the id names nothing.
func (id EntryID) IsZero() bool { return id == EntryID{} }

// ParseEntryID reads the text form of an EntryID.
func ParseEntryID(s string) (EntryID, error) {
	a, key, ok := strings.Cut(s, " ")
	if !ok || key == "" || !Address(a).Valid() {
		return EntryID{}, fmt.Errorf("session: %q is not an entry id", s)
	}
	return EntryID{Address: Address(a), Key: key}, nil
}

// ThreadOf derives the id of the conversation that the given entry opens: the first 128 bits of a SHA-256 over it. The same
// entry always opens the same thread, so that a crash between two writes can't leave two.
func ThreadOf(opener EntryID) ledger.ThreadID {
	sum := sha256.Sum256([]byte(string(opener.Address) + "\x00" + opener.Key))
	return ledger.ThreadID(sum[:16])
}
