package conduittest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/session"
)

// Run is the conformance suite of a conduit's Renderer and Poster. Every test has a rig and a bubble of its own, so that a goroutine
// that is left behind fails it; and at its end no secret may be found in an error or a log line.
func Run(t *testing.T, factory Factory) {
	for name, f := range map[string]func(*suite){
		"parts": (*suite).parts, "order": (*suite).order, "reconnect": (*suite).reconnect, "once": (*suite).once,
		"cancel": (*suite).cancel, "stop": (*suite).stop, "apart": (*suite).apart, "find": (*suite).find, "dead": (*suite).dead,
		"gone": (*suite).gone, "moved": (*suite).moved,
	} {
		t.Run(name, func(t *testing.T) { inBubble(t, factory, f) })
	}
	for f := range classes {
		t.Run("class/"+string(f), func(t *testing.T) { inBubble(t, factory, func(s *suite) { s.class(f) }) })
	}
	for _, f := range []Fault{
		FaultRetry, FaultRetryAfter, FaultMalformed, FaultTooBig, FaultCut, FaultLate, FaultGarbage, FaultReset, FaultHang,
	} {
		t.Run("through/"+string(f), func(t *testing.T) { inBubble(t, factory, func(s *suite) { s.through(f) }) })
	}
}

// suite is one test on one rig.
type suite struct {
	*Rig
	t     *testing.T
	log   logBook
	chat  *chat
	finds bool
}

func inBubble(t *testing.T, factory Factory, f func(*suite)) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t}
		s.Rig = factory(t, s.log.logger())
		_, s.finds = s.Poster.(conduit.Finder)
		s.chat = newChat(s)
		defer s.secrets()
		if s.Close != nil {
			defer s.Close()
		}
		f(s)
	})
}

// secrets fails where one was logged, errors included: the suite logs those it gets.
func (s *suite) secrets() {
	for i, secret := range s.Secrets {
		if strings.Contains(s.log.String(), secret) {
			s.t.Errorf("secret %d is in the log", i)
		}
	}
}

// item is an answer that is on no log.
func (s *suite) item(source string) conduit.Item {
	turn := ledger.TurnID{Thread: ledger.ThreadID{1}, Seq: 7}
	return conduit.Item{Thread: turn.Thread, Seq: 7, Turn: turn, Kind: conduit.Answer, Source: source, At: time.Now()}
}

// post renders and posts the first part of a short answer at an offset that the Poster must only store.
func (s *suite) post(ctx context.Context, a session.Address, offset int) ([]string, error) {
	it := s.item("one two three")
	p, err := s.Renderer.Part(it, 0, conduit.Shape{})
	if err != nil {
		s.t.Fatal(err)
	}
	p.Offset = offset
	ids, err := s.Poster.Post(ctx, a, it, p)
	if err != nil {
		s.log.logger().Info("post", "err", err)
	}
	return ids, err
}

// fault scripts a fault, or skips the test where the platform knows no such trouble.
func (s *suite) fault(a session.Address, f Fault) {
	if !s.Fault(a, f) {
		s.t.Skipf("%s knows no such trouble", s.Name)
	}
}

// class checks that a fault becomes an error of the right class, and that what follows goes through.
func (s *suite) class(f Fault) {
	a := s.Places[0]
	s.fault(a, f)
	_, err := s.post(s.t.Context(), a, 0)
	var e *conduit.Error
	switch class := classes[f]; {
	case err == nil:
		s.t.Fatal("no error")
	case !errors.As(err, &e):
		s.t.Fatalf("%T is no *conduit.Error: %v", err, err)
	case e.Class != class:
		s.t.Errorf("class %s, want %s: %v", e.Class, class, err)
	case class == conduit.RetryAfter && (e.After < 2*time.Second || e.After > 3*time.Second):
		s.t.Errorf("after %v, want 2s to 3s", e.After)
	case class == conduit.Moved && e.To != s.Moved:
		s.t.Errorf("moved to %s, want %s", e.To, s.Moved)
	}
	if f == FaultGone || f == FaultMoved || f == FaultDead {
		return
	}
	time.Sleep(2 * time.Second)
	if ids, err := s.post(s.t.Context(), a, 0); err != nil || len(ids) == 0 {
		s.t.Errorf("the next post: ids %q, %v", ids, err)
	}
}

// cancel checks that a post ends with its ctx.
func (s *suite) cancel() {
	s.fault(s.Places[0], FaultHang)
	ctx, stop := context.WithTimeout(s.t.Context(), time.Second)
	defer stop()
	start := time.Now()
	if _, err := s.post(ctx, s.Places[0], 0); err == nil {
		s.t.Error("no error")
	}
	if d := time.Since(start); d > 1100*time.Millisecond {
		s.t.Errorf("the post went on for %v", d)
	}
}

// find checks that the look-up tells what is there by turn and offset, a note's negative one included.
func (s *suite) find() {
	f, ok := s.Poster.(conduit.Finder)
	if !ok {
		s.t.Skipf("%s can't be asked", s.Name)
	}
	a, ctx := s.Places[0], s.t.Context()
	want := map[int][]string{}
	for _, offset := range []int{0, 2000, -1} {
		ids, err := s.post(ctx, a, offset)
		if err != nil {
			s.t.Fatal(err)
		}
		want[offset] = ids
	}
	for _, offset := range []int{0, 2000, -1, -2001, 1} {
		ids, found, err := f.Find(ctx, a, s.item("one two three"), offset)
		if err != nil || found != (want[offset] != nil) || found && strings.Join(ids, " ") != strings.Join(want[offset], " ") {
			s.t.Errorf("at %d: %q, %v, %v; want %q", offset, ids, found, err, want[offset])
		}
	}
	other := s.item("one two three")
	other.Turn.Seq++
	if _, found, err := f.Find(ctx, a, other, 0); found || err != nil {
		s.t.Errorf("another turn is found: %v", err)
	}
	if _, found, err := f.Find(ctx, s.Places[1], s.item(""), 0); found || err != nil {
		s.t.Errorf("found at another place: %v", err)
	}
}
