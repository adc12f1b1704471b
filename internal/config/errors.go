package config

import (
	"errors"
	"strings"
)

// ErrNoPlatform is in the error of Load when neither Slack nor Telegram is on.
var ErrNoPlatform = errors.New("no platform is on")

// ErrNoFile is in the error of Load when a named file doesn't exist.
var ErrNoFile = errors.New("no such configuration file")

// Error is what Load returns: everything wrong with a configuration. A command that gets one ends with exit code 2.
type Error struct {
	Problems []string // whole sentences with file, key and remedy; never the value of a secret
	Kind     error    // ErrNoFile, ErrNoPlatform or nil
}

// Error returns the problems, one a line.
func (e *Error) Error() string { return strings.Join(e.Problems, "\n") }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
