package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"orebot/core/observe"
)

// answer is what a tool's Call returned.
type answer struct {
	text string
	err  error
}

// panicked is a panic in a tool.
type panicked struct {
	value any
	stack []byte
}

// Error returns the value.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// errExited is what a tool has done that ended its goroutine instead of returning.
var errExited = errors.New("the tool's goroutine ended without a result")

// background calls the tool on a goroutine of its own and returns where its answer will be, whichever way it ends.
func background(ctx context.Context, e *entry, args []byte) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errExited}
		defer func() {
			if v := recover(); v != nil {
				a = answer{err: &panicked{v, debug.Stack()}}
			}
			done <- a
		}()
		text, err := e.Call(ctx, args)
		a = answer{text, err}
	}()
	return done
}

// failed logs an error that isn't for the model, and returns what the model reads.
func (r *Runner) failed(e *entry, err error) string {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Text
	}
	log := r.logger().With(observe.KeyTool, e.Name, observe.KeyError, err)
	if p, ok := errors.AsType[*panicked](err); ok {
		log = log.With("stack", string(p.stack))
	}
	log.Error("tool broke")
	return e.Name + " broke and gave no result"
}

func (r *Runner) logger() *slog.Logger {
	if r.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Logger
}
