package bolt

import (
	"errors"
	"fmt"
	"io/fs"

	bolterrors "go.etcd.io/bbolt/errors"

	"orebot/core/session"
)

// Reason says why a state database can't be opened.
type Reason uint8

// The reasons.
const (
	Unwritable Reason = iota // the file or its directory can't be made or written
	Locked                   // another process has it open
	Damaged                  // it is a database, but not a whole one
	Newer                    // a later version of the program wrote it
	Foreign                  // it isn't a state database
)

// OpenError is why a state database can't be opened. Error is one sentence for the operator.
type OpenError struct {
	Path   string
	Reason Reason
	PID    int    // of Locked: the process that has it open; 0: not known
	Schema uint32 // of Newer: the file's
	Err    error  // the cause; may be nil
}

// Error says what is wrong and, where there is one, the remedy.
func (e *OpenError) Error() string {
	switch e.Reason {
	case Locked:
		who := ""
		if e.PID > 0 {
			who = fmt.Sprintf(" (pid %d)", e.PID)
		}
		return fmt.Sprintf("state database %s is in use by another orebot%s", e.Path, who)
	case Damaged:
		return fmt.Sprintf("state database %s is damaged (%v); restore a backup", e.Path, e.Err)
	case Newer:
		return fmt.Sprintf("state database %s was written by a newer orebot (schema version %d, this one knows %d)",
			e.Path, e.Schema, schemaVersion)
	case Foreign:
		return fmt.Sprintf("%s is not a state database (%v)", e.Path, e.Err)
	}
	return fmt.Sprintf("state database %s can't be written (%v)", e.Path, cause(e.Err))
}

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Err }

// cause leaves out the path that the sentence has named already.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

// asOpenError makes an *OpenError of whatever opening the file at path met.
func asOpenError(path string, err error) *OpenError {
	var e *OpenError
	if errors.As(err, &e) {
		out := *e
		out.Path = path
		return &out
	}
	out := &OpenError{Path: path, Reason: Unwritable, Err: err}
	var c *session.CorruptError
	switch {
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch),
		errors.Is(err, bolterrors.ErrChecksum), errors.As(err, &c):
		out.Reason = Damaged
	case errors.Is(err, bolterrors.ErrTimeout):
		out.Reason = Locked
	}
	return out
}
