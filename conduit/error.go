package conduit

import (
	"errors"
	"time"

	"orebot/core/session"
)

// Class is what a platform's answer to a post means for its courier.
type Class uint8

// The classes. In all but Unknown the part was surely not posted.
const (
	// Unknown: the part may have been posted.
	Unknown Class = iota
	// Retry: a passing failure.
	Retry
	// RetryAfter: not before After.
	RetryAfter
	// Malformed: the platform refuses the part's markup.
	Malformed
	// TooBig: the platform wants smaller parts.
	TooBig
	// NoFile: the platform takes no file here; what the file holds may go as text.
	NoFile
	// Gone: the address is dead for good.
	Gone
	// Moved: the address is now To.
	Moved
	// Dead: the credentials are refused; nothing can be posted anywhere until somebody acts.
	Dead
)

var classNames = [...]string{"unknown", "retry", "retry after", "malformed", "too big", "no file", "gone", "moved", "dead"}

// String returns the class's name in logs.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Error is a platform's answer that is no success.
type Error struct {
	Class Class
	After time.Duration   // of RetryAfter; 0: not said
	To    session.Address // of Moved
	Err   error           // what the platform said, without secrets
}

// Error returns the cause's text and the class.
func (e *Error) Error() string {
	if e.Err == nil {
		return "conduit: " + e.Class.String()
	}
	return e.Err.Error() + " (" + e.Class.String() + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// classify returns err as an *Error; one that isn't is of class Unknown.
func classify(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Class: Unknown, Err: err}
}

// permanent reports whether a look-up that ended so will never succeed.
func (e *Error) permanent() bool {
	return e.Class == Gone || e.Class == Malformed || e.Class == TooBig
}
