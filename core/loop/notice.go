package loop

import (
	"context"
	"strconv"
)

// Severity ranks a Notice. The zero value is success, so that a forgotten
// severity never looks like a failure. Values may be added at the end; the
// numbers of the existing ones are stored and stay.
type Severity uint8

const (
	// SeveritySuccess: something worked.
	SeveritySuccess Severity = iota
	// SeverityInfo: neutral, such as a list of commands.
	SeverityInfo
	// SeverityWarn: something is less than it should be, and goes on.
	SeverityWarn
	// SeverityError: something failed that a person should know of.
	SeverityError
)

// String returns "success", "info", "warn" or "error", and the number of any
// other value.
func (s Severity) String() string {
	switch s {
	case SeveritySuccess:
		return "success"
	case SeverityInfo:
		return "info"
	case SeverityWarn:
		return "warn"
	case SeverityError:
		return "error"
	}
	return strconv.Itoa(int(s))
}

// Notice is a message to people that the model never sees and that is no turn:
// the answer to a command, or what went wrong, in words one can act on.
type Notice struct {
	Content  string
	Severity Severity
}

// NoticeEvent brings a Notice to conduits. Being no TurnCompleteEvent, it is
// never appended to a state.
type NoticeEvent struct {
	Notice Notice
	// Ctx says where the event comes from; nil is filled in by Emit.
	Ctx context.Context
}

// Kind returns "notice".
func (e NoticeEvent) Kind() string { return kindNotice }

// Context returns Ctx, or the background where it is nil.
func (e NoticeEvent) Context() context.Context { return orBackground(e.Ctx) }
