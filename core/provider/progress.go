package provider

import "context"

// Progress is what a Provider can tell of a call before its first artifact.
type Progress struct {
	Model   string
	Loading bool // the server has to load the model first, which can take minutes; unset: that is over
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
