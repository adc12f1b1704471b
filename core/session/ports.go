package session

import "context"

// People looks persons up on their platform. A conduit implements it where its events don't tell everything.
type People interface {
	// Person returns the author with what the platform knows of them, Known set. An error means that it can't be told now.
	Person(ctx context.Context, a Address, who Author) (Author, error)
}

// Receipt is what became of an Inbound.
type Receipt struct {
	// Err is set where the message isn't durable: it must not be acknowledged.
	Err error
	// Duplicate: the same message was accepted before, and that is durable.
	Duplicate bool
	// Ignored is the reason for which nothing was stored, a metric label; empty where something was.
	Ignored string
	// Heard: stored as context only.
	Heard bool
}

type seqKey struct{}

// WithSeq attaches to a NoticeEvent's context the sequence of the end record that it announces.
func WithSeq(ctx context.Context, seq uint64) context.Context {
	return context.WithValue(ctx, seqKey{}, seq)
}

// SeqFrom returns the sequence of the end record that a NoticeEvent announces. A NoticeEvent without one is progress: it is shown
// and forgotten.
func SeqFrom(ctx context.Context) (uint64, bool) {
	seq, ok := ctx.Value(seqKey{}).(uint64)
	return seq, ok
}
