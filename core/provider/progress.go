package provider

import "context"

// Progress is what a Provider can tell of a call beside its artifacts.
type Progress struct {
	Model   string
	Loading bool // the server has to load the model first, which can take minutes; unset: that is over
	Cut     *Cut // the server has left out a part of the prompt without a word; told once, behind the answer
}

// Cut is a prompt of which the model has seen less than it was sent: its window is smaller than the one that was asked for, or what
// was sent doesn't fit it.
type Cut struct {
	Bytes  int // of text that was sent
	Tokens int // that the server says it has read
	Window int // that was asked for; 0: none
}

type progressKey struct{}

// WithProgress lets f be told of the progress of calls under ctx. f is called from any goroutine and must not block.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Report tells whoever listens under ctx.
func Report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		f(p)
	}
}

type checkKey struct{}

// WithCheck lets a Provider ask, under the context returned, whether a call's prompt may still be sent: f returns nil where it may, and
// else the error with which the call is to end. f is called from any goroutine and must not block.
func WithCheck(ctx context.Context, f func() error) context.Context {
	return context.WithValue(ctx, checkKey{}, f)
}

// Check is asked before each time that a prompt is sent, such as to a second server after the first has failed: what it shows may have been
// edited or deleted meanwhile. It returns nil where nobody minds.
func Check(ctx context.Context) error {
	if f, ok := ctx.Value(checkKey{}).(func() error); ok {
		return f()
	}
	return nil
}
