package conduittest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"orebot/conduit"
	"orebot/core/session"
)

// Fault names what the next post to an address meets.
type Fault string

// The faults. A rig says which of them its platform knows.
const (
	FaultRetry      Fault = "retry"       // a passing failure; nothing is shown
	FaultRetryAfter Fault = "retry after" // the platform asks to wait for two seconds
	FaultMalformed  Fault = "malformed"   // the markup is refused
	FaultTooBig     Fault = "too big"     // the part is refused for its size
	FaultGone       Fault = "gone"        // the address is dead, now and later
	FaultMoved      Fault = "moved"       // the address is Rig.Moved, now and later
	FaultDead       Fault = "dead"        // the credentials are refused
	FaultCut        Fault = "cut"         // the message is shown; the connection is cut before the answer
	FaultLate       Fault = "late"        // the connection is cut before the answer; the message is shown two seconds later
	FaultGarbage    Fault = "garbage"     // the message is shown; the answer, a success by its status, can't be read
	FaultReset      Fault = "reset"       // the connection is cut after the request; nothing is shown
	FaultHang       Fault = "hang"        // no answer until the client gives up; nothing is shown
)

// classes is what a Poster must make of each fault. A cut connection may have done everything: whoever calls that Retry posts twice.
var classes = map[Fault]conduit.Class{
	FaultRetry: conduit.Retry, FaultRetryAfter: conduit.RetryAfter, FaultMalformed: conduit.Malformed, FaultTooBig: conduit.TooBig,
	FaultGone: conduit.Gone, FaultMoved: conduit.Moved, FaultDead: conduit.Dead, FaultCut: conduit.Unknown, FaultLate: conduit.Unknown,
	FaultGarbage: conduit.Unknown, FaultReset: conduit.Unknown, FaultHang: conduit.Unknown,
}

// Rig is a platform's simulator with a Renderer and a Poster connected to it, made inside the bubble of one test.
type Rig struct {
	Name     string            // the conduit's
	Places   []session.Address // two or more, where the bot may post
	Moved    session.Address   // where FaultMoved leads; empty where the platform moves nothing
	Renderer conduit.Renderer
	Poster   conduit.Poster
	Long     int                                      // an answer of this many bytes of words has at least three parts
	Fault    func(a session.Address, f Fault) bool    // scripts f for the next post to a; false: the platform knows no such trouble
	Shown    func(a session.Address) (texts []string) // what a person reads there, message by message
	Cut      func()                                   // cuts every open connection; nil: there are none
	Secrets  []string                                 // must not appear in any error or log
	Close    func()                                   // ends the simulator; every goroutine of the rig has ended when it returns
}

// Factory makes a rig that logs to logger.
type Factory func(t *testing.T, logger *slog.Logger) *Rig

// logBook keeps what was logged, of all levels.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends a line.
func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
