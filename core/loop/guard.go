package loop

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic in a provider, a transform or a handler. It ends the turn that it happened in, like any error of theirs,
// and nothing else; a panic in an OnEmit callback is left to whoever called Emit, Turn or Submit.
type PanicError struct {
	// Value is what panic was called with.
	Value any
	// Stack is the stack of the goroutine that panicked, as debug.Stack prints it.
	Stack []byte
}

// Error returns the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// guard calls f and makes a panic in it a *PanicError.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	return f()
}

// errExited is the failure of a provider that ended its goroutine instead of returning.
var errExited = errors.New("loop: the provider's goroutine ended without a result")

// background calls f in a goroutine of its own and returns where its error will be, whichever way f ends.
func background(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() {
		err := errExited
		defer func() { result <- err }()
		err = guard(f)
	}()
	return result
}
