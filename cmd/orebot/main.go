package main

import (
	"context"
	"errors"
	"io"
	"os"

	"orebot/internal/config"
	"orebot/internal/ops"
)

// Exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // wrong usage or configuration
	exitRefused = 3 // every platform's credentials are refused
)

// errRefused ends a daemon that no platform lets in.
var errRefused = errors.New("every platform refuses the credentials; replace the tokens and start again")

// usageError is a wrong call.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// stdio is where a command reads and writes.
type stdio struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// execute runs one command line and returns the exit code. Errors are said on stderr.
func execute(ctx context.Context, args []string, std stdio) int {
	root := newRoot(std)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errSaid) {
		ops.Complain(std.err, err)
	}
	return exitCode(err)
}

// errSaid is an error that the command has printed itself.
var errSaid = errors.New("")

func exitCode(err error) int {
	var usage usageError
	var conf *config.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.As(err, &conf):
		return exitUsage
	case errors.Is(err, errRefused):
		return exitRefused
	default:
		return exitFailed
	}
}
