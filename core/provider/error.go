package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies a failed call by what can be done about it.
type Kind uint8

// The kinds of failure.
const (
	// KindUnknown is a failure that nobody classified.
	KindUnknown Kind = iota
	// KindUnreachable: no connection to the server.
	KindUnreachable
	// KindBusy: the server is there and takes no more work now.
	KindBusy
	// KindModelMissing: the server doesn't have the model.
	KindModelMissing
	// KindTimeout: no first token in time, or silence in mid-answer.
	KindTimeout
	// KindIncomplete: the stream broke before the answer was complete.
	KindIncomplete
	// KindEmpty: the answer is complete and has nothing in it.
	KindEmpty
	// KindTooLong: the prompt doesn't fit the context window.
	KindTooLong
	// KindRefused: the server won't do this call, now or later.
	KindRefused
	// KindDenied: the server doesn't accept who is asking.
	KindDenied
	// KindRepeats: the answer was the same few words over and over.
	KindRepeats
	// KindNoLoad: the server can't load the model, whoever asks: it doesn't
	// fit the memory, or its file is broken.
	KindNoLoad
	// KindTooBig: something in front of the server takes no request of so many
	// bytes, whatever the model could read.
	KindTooBig
)

// String returns a short name for logs and metrics.
func (k Kind) String() string {
	names := [...]string{
		"unknown", "unreachable", "busy", "model missing", "timeout",
		"incomplete", "empty", "too long", "refused", "denied", "repeats", "no load", "too big",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Error is a failed call.
type Error struct {
	// Kind says what can be done about it.
	Kind Kind
	// Model is the model that was asked, as the Spec named it.
	Model string
	// Host is where the server is, without credentials.
	Host string
	// Partial says that some artifact was sent before the failure.
	Partial bool
	// Installed names, with KindModelMissing, a few models that are there, the
	// likeliest to be meant first. It may be empty.
	Installed []string
	// After is how long the server asked to wait; zero where it didn't.
	After time.Duration
	// Err is the cause; it may be nil.
	Err error
}

// Error returns model, host, kind and cause, for a log and never for a chat.
func (e *Error) Error() string {
	parts := []string{"provider"}
	if e.Model != "" {
		parts = append(parts, e.Model)
	}
	if e.Host != "" {
		parts = append(parts, e.Host)
	}
	parts = append(parts, e.Kind.String())
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of the first *Error in err's chain; KindUnknown where
// there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindUnknown
}

// Retryable reports whether the same call may succeed later by itself.
func Retryable(k Kind) bool {
	switch k {
	case KindUnreachable, KindBusy, KindTimeout, KindIncomplete, KindEmpty, KindRepeats:
		return true
	}
	return false
}
