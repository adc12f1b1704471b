package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// stage is a Presenter that takes down what a person would see. What it shows stays until it is cleared.
type stage struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
	calls map[session.Address]int
	slow  time.Duration // of each call
	fail  int           // calls of Clear that fail
	t     *testing.T
}

func newStage(t *testing.T) *stage {
	return &stage{t: t, begin: time.Now(), calls: map[session.Address]int{}}
}

func (s *stage) enter(a session.Address) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[a]++; s.calls[a] > 1 {
		s.t.Errorf("%d calls at once for %s", s.calls[a], a)
	}
	return func() { s.mu.Lock(); defer s.mu.Unlock(); s.calls[a]-- }
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s ", time.Since(s.begin).Round(100*time.Millisecond))+fmt.Sprintf(format, args...))
}

func (s *stage) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

func (s *stage) Show(ctx context.Context, a session.Address, sign session.Sign, shown *session.Presence) (*session.Presence, error) {
	defer s.enter(a)()
	s.note("%s %s%s", a, sign.Activity, sign.Detail)
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return &session.Presence{Kind: "status", Message: sign.Message}, ctx.Err()
	}
	return &session.Presence{Kind: "status", Message: sign.Message}, nil
}

func (s *stage) Clear(_ context.Context, a session.Address, shown session.Presence) error {
	defer s.enter(a)()
	if s.fail > 0 {
		s.fail--
		return errors.New("502")
	}
	s.note("%s clear", a)
	return nil
}

func (s *stage) Noted(_ context.Context, a session.Address, message string) error {
	defer s.enter(a)()
	s.note("%s noted %s", a, message)
	return nil
}

func staged(s *stage, beat time.Duration) func(*session.Config) {
	return func(c *session.Config) {
		p := c.Platforms["slack"]
		p.Presenter, p.Beat = s, beat
		c.Platforms["slack"] = p
		c.SlowNotice = 65 * time.Second
	}
}

// Report 28: a sign ends with every answer, error and stop, and is repeated meanwhile; a slow answer is said to be one.
func TestSignsOfAnAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		st := newStage(t)
		b := start(t, mem, echo(70*time.Second), commanded(mem), staged(st, 30*time.Second))
		b.accept(msg(dm, "slack:U1", "hi"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		equal(t, "signs", st.seen(), []string{"0s slack:T1/D1 thinking", "30s slack:T1/D1 thinking", "1m0s slack:T1/D1 thinking",
			"1m5s slack:T1/D1 slow", "1m10s slack:T1/D1 clear"})
		if a := at(t, mem, dm); a.PresenceRev != (session.Revision{}) {
			t.Errorf("the presence %+v stays", a.Presence)
		}
		b.stopLife()
	})
}

// Report 28.
func TestSignsEndWithFailuresAndStops(t *testing.T) {
	for name, p := range map[string]*scripted{"failure": failing(provider.KindRefused, 99), "stop": halfway()} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				st := newStage(t)
				st.fail = 1
				b := start(t, mem, p, commanded(mem), staged(st, 0))
				b.tell("hi", "/stop")
				time.Sleep(5 * time.Second)
				synctest.Wait()
				seen := st.seen()
				// what fails at once may end before a sign is shown
				if n := len(seen); n == 0 && name == "stop" || n > 0 && !strings.HasSuffix(seen[n-1], "clear") {
					t.Errorf("signs %q", seen)
				}
				if a := at(t, mem, dm); a.PresenceRev != (session.Revision{}) {
					t.Errorf("the presence %+v stays", a.Presence)
				}
				b.stopLife()
			})
		})
	}
}

// What a crash left is cleared at the next start; a Presenter that hangs delays no answer, and no stop of the process for long.
func TestSignsOfACrashAndOfAHangingPlatform(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		left := session.Presence{Kind: "status", Message: "1"}
		for _, a := range []session.Address{"slack:T1/D7", "slack:T1/D8"} {
			if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(),
				Presences: []session.PresenceWrite{{Address: a, Presence: &left}}}); err != nil {
				t.Fatal(err)
			}
		}
		st := newStage(t)
		b := start(t, mem, echo(time.Second), staged(st, 0))
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(st.seen()); n != 2 {
			t.Errorf("signs %q, want two cleared", st.seen())
		}
		st.slow = time.Hour
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		begin := time.Now()
		b.stopLife()
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("the stop took %s", d)
		}
	})
}

// Two ahead of you: who waits is told the place once it takes more than a few seconds, and a busy person's threads come after the
// first one of somebody else.
func TestWhoWaitsIsToldAndServedFairly(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		st := newStage(t)
		p := echo(20 * time.Second)
		b := start(t, mem, p, staged(st, 0), func(c *session.Config) { c.MaxConcurrent = 2; c.SlowNotice = 0 })
		for i := range 4 {
			b.accept(msg(session.Address(fmt.Sprintf("slack:T1/D%d", i)), "slack:U1", fmt.Sprint("busy ", i)))
			time.Sleep(100 * time.Millisecond)
		}
		b.accept(msg("slack:T1/D9", "slack:U2", "other"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if q := p.prompts(); said(q[2][0]) != "other" {
			t.Errorf("third comes %q", said(q[2][0]))
		}
		places := map[string]bool{}
		for _, line := range st.seen() {
			_, what, _ := strings.Cut(line, " ")
			places[what] = true
		}
		for _, want := range []string{"slack:T1/D9 queued0", "slack:T1/D2 queued1", "slack:T1/D3 queued2"} {
			if !places[want] {
				t.Errorf("nobody was told %q: %v", want, st.seen())
			}
		}
		b.stopLife()
	})
}

// lengthy tools take a second.
type lengthy struct{ *tools }

func (l lengthy) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	if _, ok := a.(artifact.ToolCall); ok {
		time.Sleep(time.Second)
	}
	return l.tools.Handle(ctx, a, e)
}

// A provider tells that it loads the model, a tool that it runs.
func TestSignsOfLoadingAndTools(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		st := newStage(t)
		p := &scripted{answer: func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			time.Sleep(time.Second)
			if n == 1 {
				provider.Report(ctx, provider.Progress{Model: "m", Loading: true})
				time.Sleep(time.Minute)
				provider.Report(ctx, provider.Progress{Model: "m"})
				time.Sleep(time.Second)
				return []artifact.Artifact{artifact.ToolCall{ID: "1", Name: "clock", Arguments: "{}"}}, nil
			}
			time.Sleep(time.Second)
			return text("noon"), nil
		}}
		b := start(t, mem, p, staged(st, 0), func(c *session.Config) { reacting(c, lengthy{&tools{}}); c.SlowNotice = 0 })
		b.accept(msg(dm, "slack:U1", "hi"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		var got []string
		for _, line := range st.seen() {
			_, what, _ := strings.Cut(line, string(dm)+" ")
			got = append(got, what)
		}
		equal(t, "signs", got, []string{"thinking", "loadingm", "thinking", "toolclock", "thinking", "clear"})
		b.stopLife()
	})
}

// An answer that takes long is said to once it is neither in line nor waiting for the model to load: those say more.
func TestWhatIsWaitedForIsSaidFirst(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		st := newStage(t)
		p := &scripted{answer: func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			time.Sleep(3 * time.Second)
			provider.Report(ctx, provider.Progress{Model: "m", Loading: true})
			time.Sleep(2 * time.Minute)
			provider.Report(ctx, provider.Progress{Model: "m"})
			time.Sleep(2 * time.Minute)
			return text("noon"), nil
		}}
		b := start(t, mem, p, staged(st, 0), func(c *session.Config) { c.SlowNotice = time.Minute })
		b.accept(msg(dm, "slack:U1", "hi"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		var got []string
		for _, line := range st.seen() {
			_, what, _ := strings.Cut(line, string(dm)+" ")
			got = append(got, what)
		}
		equal(t, "signs", got, []string{"thinking", "loadingm", "thinking", "slow", "clear"})
		b.stopLife()
	})
}

// The sign of a turn that begins anew, because its question was edited, stays until that is answered.
func TestTheSignOutlivesAnEdit(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		st := newStage(t)
		b := start(t, mem, echo(70*time.Second), commanded(mem), staged(st, 0))
		in := msg(dm, "slack:U1", "whta?")
		b.accept(in)
		time.Sleep(10 * time.Second)
		b.accept(edit(in, "what?"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "signs", st.seen(), []string{"0s slack:T1/D1 thinking", "1m5s slack:T1/D1 slow", "1m20s slack:T1/D1 clear"})
		b.stopLife()
	})
}
