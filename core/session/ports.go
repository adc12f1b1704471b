package session

import (
	"context"
	"io"
	"time"
)

// People looks persons up on their platform. A conduit implements it where its events don't tell everything.
type People interface {
	// Person returns the author with what the platform knows of them, Known set. An error means that it can't be told now.
	Person(ctx context.Context, a Address, who Author) (Author, error)
}

// Namer tells how people are called. A conduit implements it where its events name people by their ids.
type Namer interface {
	// Names returns the message with names in the place of the ids that Inbound.Mentions lists, and with its author's name. Whom it
	// can't tell of within seconds stays as they are: it never fails. It calls the network.
	Names(ctx context.Context, in Inbound) Inbound
}

// Activity says what is being done about the messages of an address.
type Activity string

// The activities, in the order in which they usually come.
const (
	ActivityQueued   Activity = "queued"   // others are ahead; the detail says how many
	ActivityLoading  Activity = "loading"  // the model is being loaded; the detail is its name
	ActivityThinking Activity = "thinking" // the model works
	ActivityTool     Activity = "tool"     // a tool runs; the detail is its name
	ActivitySlow     Activity = "slow"     // it takes long: people are told once, silently
)

// Sign is what a platform is to show while an answer is being made.
type Sign struct {
	Activity Activity
	Detail   string
	Message  string // the platform's id of the newest message that is being answered
	Author   string // who wrote it
}

// Presenter shows that an answer is being made: a typing sign, a status, a reaction. A conduit implements it. The calls for one
// address come one at a time, from a goroutine that no answer waits for; they may block until ctx ends. What fails is of no
// consequence: presence is the first thing to be dropped.
type Presenter interface {
	// Show shows a sign, in place of what is already shown there (nil: nothing). It is called again with the same sign every
	// Platform.Beat, since platforms let signs fade. It returns what must be cleaned up later, nil if it fades by itself; with an
	// error too, where a part of it was shown. Before it shows what doesn't fade by itself it calls Foresee.
	Show(ctx context.Context, a Address, s Sign, shown *Presence) (*Presence, error)
	// Clear removes what Show has shown, of this life of the process or of an earlier one.
	Clear(ctx context.Context, a Address, shown Presence) error
	// Noted shows that the edit of an answered message was taken down.
	Noted(ctx context.Context, a Address, message string) error
}

// Fetcher reads attachments from their platform. A conduit implements it. An error is a *FetchError where the reason is known.
type Fetcher interface {
	// Fetch writes the file's bytes to w and returns what the platform says of it now: name, type, size. It stops at w's error.
	Fetch(ctx context.Context, a Address, att Attachment, w io.Writer) (Attachment, error)
}

// FetchError says why an attachment can't be read. Text is a sentence for the chat.
type FetchError struct {
	Retry bool          // it may work later
	After time.Duration // not before; 0: the platform doesn't say
	Text  string
	Err   error
}

// Error is for the log.
func (e *FetchError) Error() string { return "session: fetch: " + e.Text + ": " + errText(e.Err) }

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

func errText(err error) string {
	if err == nil {
		return "no cause known"
	}
	return err.Error()
}

// Blobs keeps the bytes of attachments. Put is durable when it returns; the same bytes have the same URL.
type Blobs interface {
	// Put keeps what fill writes, and returns its URL ("blob:sha256/…") and size in bytes.
	Put(ctx context.Context, fill func(w io.Writer) error) (url string, n int64, err error)
	// Open reads a blob.
	Open(ctx context.Context, url string) (io.ReadCloser, error)
}

// Historian reads what people wrote at an address before a message. A conduit implements it where the platform can be asked.
type Historian interface {
	// Before returns the messages before in, oldest first, at most limit, without the bot's own notices. An error means that the
	// platform doesn't tell, now or ever; the answer is given without.
	Before(ctx context.Context, in Inbound, limit int) ([]Said, error)
}

// Said is a message that stood at an address before the bot was called there.
type Said struct {
	Author  Author
	Own     bool // the bot's
	Text    string
	Message string
	Order   string
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
