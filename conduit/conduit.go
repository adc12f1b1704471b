package conduit

import (
	"context"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

// Conduit is one platform. Run blocks: it returns nil when ctx ends, and an error when going on is hopeless.
type Conduit interface {
	// Name is what the platform's addresses begin with.
	Name() string
	Run(ctx context.Context) error
}

// Kind says what an Item is.
type Kind uint8

// The kinds of Item.
const (
	Answer     Kind = iota // a final turn of the assistant
	Notice                 // what the bot says itself, see Severity
	Attributed             // what somebody wrote at another address of the thread, see Author
)

// String returns the kind's name in logs.
func (k Kind) String() string {
	switch k {
	case Answer:
		return "answer"
	case Notice:
		return "notice"
	case Attributed:
		return "attributed"
	}
	return "unknown"
}

// Item is one record of a thread's log as it is to be shown at one address.
type Item struct {
	Thread   ledger.ThreadID
	Seq      ledger.Seq    // the record that the cursor stands at
	Turn     ledger.TurnID // what is shown: that record, or the draft that it promotes. Metadata and file names carry it
	Kind     Kind
	Severity loop.Severity // of a Notice
	Source   string        // Markdown; offsets count its bytes
	Author   string        // of an Attributed one, such as "slack:U1"
	Speaker  string        // of an Attributed one: the author's name; may be empty
	ReplyTo  string        // platform id of the newest message it answers at this address; may be empty
	Asked    time.Time     // when that was written; may be zero
	At       time.Time     // when the record was written
	Ref      string        // a Notice's correlation id; may be empty
	// Reasoning is the beginning of what the model thought before an Answer, as plain text, where it is to be shown: folded, above or
	// below the first part, never in its way. Offsets don't count it.
	Reasoning string

	// Retells is the question, of another address, that has come to read as Source says; 0: the item is none of those. What was shown of
	// it is made to say so, and only where that can't be is the item posted.
	Retells ledger.Seq
	Edited  bool // of an Attributed one: it was shown in other words before, and is posted anew

	Asker    string   // who wrote the message that ReplyTo names, such as "slack:U1"; may be empty
	ReplyURL string   // where a Notice that answers a slash command may go within 30 minutes of Asked; never printed
	Offers   []string // of a Notice: the commands that help now, for buttons
	Private  bool     // of a Notice: for the asker alone, where that can't lose it
	File     string   // of a Notice: Source is the content of a file of this name

	asked  *session.Inbound // the message that ReplyTo names; nil: none of this address, or none that can be read
	own    bool             // it answers, or is about, a message of this address
	always bool             // for whoever reads there, see session.EndRecord
}

// Shape says how a part is to be made. The zero Shape is the usual one.
type Shape struct {
	Repeat bool  // with the line "(this part may be a repeat)"; must not change where the part ends
	Plain  bool  // as plain text, after the platform refused the markup
	Shrink uint8 // 0…3: each step about halves the size, after the platform found the part too big
	Inline bool  // in messages all of it, after the platform refused a file
	Posted int   // how many messages of the item stand already; with it, a long item may go on as a file
}

// MaxShrink is the highest Shape.Shrink that a Renderer is asked for.
const MaxShrink = 3

// Part is a piece of an Item that one post shows.
type Part struct {
	// Offset is where the part begins in Source. Couriers set it to what they asked for; that of a note which stands in a part's
	// place is negative. A Poster only stores it, a Finder only compares it.
	Offset int
	// Next is where the next part begins; len(Source) or more: this was the last.
	Next int
	// Body is what the Poster needs; nil: there is nothing to show between Offset and Next.
	Body any
	// Text is what a person reads, for logs and tests.
	Text string
}

// Renderer turns items into parts. It is pure: the same arguments always give the same part, on any machine.
type Renderer interface {
	// Layout is the version of the way items are split, from 1 on. A change lets items that are half delivered be split anew from
	// where they are.
	Layout() uint16
	// Part returns the part of an item that begins at offset. Next is greater than offset. An error is a part that can't be made;
	// it is handled like one that the platform finds malformed.
	Part(it Item, offset int, how Shape) (Part, error)
}

// Poster shows a part on the platform and returns the ids of the messages made. Its errors are *Error; any other one counts as
// Unknown. No error text carries a secret.
type Poster interface {
	Post(ctx context.Context, a session.Address, it Item, p Part) (ids []string, err error)
}

// Finder is a Poster that can ask the platform whether a part is there. An error of class Gone, Malformed or TooBig says that it
// will never be able to tell; after any other one the look-up is repeated.
type Finder interface {
	Find(ctx context.Context, a session.Address, it Item, offset int) (ids []string, found bool, err error)
}

// Reviser is a Poster that can change and remove the messages it has made. Each call may be repeated: what is so already is no error. An
// error of class Gone, Malformed, TooBig or NoFile says that it will never be done.
type Reviser interface {
	// Change makes a message show a part of an item. A message that isn't there any more is Malformed.
	Change(ctx context.Context, a session.Address, message string, it Item, p Part) error
	// Remove deletes a message. One that isn't there any more is no error.
	Remove(ctx context.Context, a session.Address, message string) error
}
