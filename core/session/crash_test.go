package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// crashing is a store that dies at one commit, which is applied or not without anybody learning of it. Until then it counts.
type crashing struct {
	*storetest.Memory
	mu      sync.Mutex
	left    int // commits before the one at which it dies; negative: dead
	applied bool
	change  func(*session.Config) // nil: none
	listen  func(session.Address, loop.OutputEvent)
}

func (c *crashing) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	c.mu.Lock()
	c.left--
	left := c.left
	c.mu.Unlock()
	switch {
	case left >= 0:
		c.Memory.Commit(ctx, b, done)
	case left == -1 && c.applied:
		c.Memory.Commit(ctx, b, func(session.Result, error) { done(session.Result{}, session.ErrUnknown) })
	default:
		go done(session.Result{}, session.ErrClosed)
	}
}

// life runs a Manager on the store until its commits run out, or all is done.
func (c *crashing) life(t *testing.T, p *scripted, in []session.Inbound) { c.run(t, p, in) }

// run is life with a changed configuration.
func (c *crashing) run(t *testing.T, p *scripted, in []session.Inbound, change ...func(*session.Config)) {
	cfg := config(c, p)
	for _, f := range change {
		f(&cfg)
	}
	cfg.ShutdownGrace = 0
	if c.change != nil {
		c.change(&cfg)
	}
	m := session.New(cfg)
	if c.listen != nil {
		m.Listen([]string{"turn_complete", "notice"}, c.listen)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	for _, in := range in { // as a platform redelivers what was never acked
		m.Accept(ctx, in, func(session.Receipt) {})
		time.Sleep(300 * time.Millisecond)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// Whatever commit the process dies at, in two lives one after the other, every message has one user turn and one answer in the
// end, in order.
func TestDeathAtEveryCommit(t *testing.T) {
	const most = 14
	for _, applied := range []bool{false, true} {
		for first := range most {
			for second := 0; second < most; second += 3 {
				t.Run(fmt.Sprintf("%v/%d/%d", applied, first, second), func(t *testing.T) {
					bubble(t, func(t *testing.T, mem *storetest.Memory) { dieTwice(t, mem, applied, first, second) })
				})
			}
		}
	}
}

// atEveryDeath runs die, in a bubble of its own, for each of the first commits at which a process may die, applied and not.
func atEveryDeath(t *testing.T, most int, die func(t *testing.T, mem *storetest.Memory, applied bool, left int)) {
	for _, applied := range []bool{false, true} {
		for left := range most {
			t.Run(fmt.Sprintf("%v/%d", applied, left), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) { die(t, mem, applied, left) })
			})
		}
	}
}

func dieTwice(t *testing.T, mem *storetest.Memory, applied bool, first, second int) {
	p := echo(500 * time.Millisecond)
	in := []session.Inbound{msg(dm, "slack:U1", "a"), msg(dm, "slack:U2", "b"), msg(dm, "slack:U1", "c"), msg("slack:T1/D2", "slack:U3", "d")}
	for _, left := range []int{first, second, 1 << 30} {
		c := &crashing{Memory: mem, left: left, applied: applied}
		c.life(t, p, in)
	}
	b := &bench{t: t, store: mem}
	for _, in := range in {
		b.ended(in, session.EndAnswered)
	}
	equal(t, "log", b.log(dm), []string{"user a", "assistant re: a", "user b", "assistant re: b", "user c", "assistant re: c"})
	equal(t, "other log", b.log("slack:T1/D2"), []string{"user d", "assistant re: d"})
}

// eightLives dies in the middle of the turn each time.
func TestAMessageThatBringsTheProcessDownIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Hour)
		bad := msg(dm, "slack:U1", "bad")
		lives := 0
		for ; lives < 20; lives++ {
			c := &crashing{Memory: mem, left: 1 << 30}
			m := session.New(config(c, p))
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- m.Run(ctx) }()
			m.Accept(ctx, bad, func(session.Receipt) {})
			time.Sleep(time.Second)
			c.mu.Lock()
			c.left = -10 // nothing more is written, not even that this is an orderly stop
			c.mu.Unlock()
			cancel()
			<-done
			b := &bench{t: t, store: mem}
			if b.entry(bad).State == session.EntryEnded {
				break
			}
		}
		if lives != 8 {
			t.Errorf("given up in life %d, want after 8 starts", lives)
		}
		b := &bench{t: t, store: mem}
		b.ended(bad, session.EndNoticed)
		equal(t, "log", b.log(dm)[:2], []string{"user bad", "tip 0"})
	})
}

func TestAnOrderlyStopIsNoStrike(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		in := msg(dm, "slack:U1", "hi")
		for range 12 {
			b := start(t, mem, echo(time.Hour), func(c *session.Config) { c.ShutdownGrace = time.Second })
			b.accept(in)
			time.Sleep(time.Second)
			b.stopLife()
			if e := b.entry(in); e.State != session.EntrySubmitted || e.Starts != 0 {
				t.Fatalf("after an orderly stop: state %d, %d starts", e.State, e.Starts)
			}
		}
		b := start(t, mem, echo(0))
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
		b.stopLife()
	})
}

func TestATurnMayFinishWithinTheGrace(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(10*time.Second))
		in, waiting := msg(dm, "slack:U1", "hi"), msg(dm, "slack:U1", "later")
		b.accept(in)
		time.Sleep(time.Second)
		b.accept(waiting)
		begin := time.Now()
		b.stopLife()
		b.ended(in, session.EndAnswered)
		if e := b.entry(waiting); e.State != session.EntryOpen {
			t.Errorf("what waited has the state %d, want open", e.State)
		}
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("the stop took %s", d)
		}
	})
}

// tools runs every call at once, and counts.
type tools struct {
	mu  sync.Mutex
	ran []string
}

func (h *tools) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	call, ok := a.(artifact.ToolCall)
	if !ok {
		return nil
	}
	h.mu.Lock()
	h.ran = append(h.ran, call.ID)
	h.mu.Unlock()
	e.Emit(ctx, loop.TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool,
		Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: call.ID, Content: "noon"}}}})
	return nil
}

func TestAnInterruptedToolIsNotRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if last := turns[len(turns)-1]; last.Role == ledger.RoleTool {
				return text("it is " + last.Artifacts[0].(artifact.ToolResult).Content), nil
			}
			return []artifact.Artifact{artifact.ToolCall{ID: "c1", Name: "clock", Arguments: "{}"}}, nil
		}}
		h := &tools{}
		react := func(c *session.Config) { c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{h} }
		for left := range 8 { // each commit: accept, question, call, result, answer
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", left)), "slack:U1", "what time?")
			c := &crashing{Memory: mem, left: left}
			cfg := config(c, p)
			react(&cfg)
			m := session.New(cfg)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- m.Run(ctx) }()
			m.Accept(ctx, in, func(session.Receipt) {})
			time.Sleep(time.Second)
			cancel()
			<-done
			before := len(h.ran)
			b := start(t, mem, p, react)
			b.accept(in)
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(in, session.EndAnswered)
			b.stopLife()
			log := b.log(in.Address)
			if n := len(log); n != 4 || !slices.Contains([]string{"assistant it is noon", "assistant it is interrupted, may have run"}, log[3]) {
				t.Errorf("death at commit %d: log %q", left, log)
			}
			if strings.Contains(log[len(log)-1], "interrupted") && len(h.ran) != before {
				t.Errorf("death at commit %d: the tool was run again", left)
			}
		}
	})
}

// TestEachResultClosesOneCall: models give calls the same id, in one turn or in two.
func TestEachResultClosesOneCall(t *testing.T) {
	turn := func(role ledger.Role, arts ...artifact.Artifact) ledger.Turn {
		return ledger.Turn{Role: role, Artifacts: arts}
	}
	call, result := artifact.ToolCall{ID: "c"}, artifact.ToolResult{ToolCallID: "c"}
	path := []ledger.Turn{
		turn(ledger.RoleAssistant, call), turn(ledger.RoleTool, result),
		turn(ledger.RoleAssistant, call, artifact.ToolCall{ID: "d"}, call), turn(ledger.RoleTool, result),
	}
	if got := session.OpenCalls(path); !slices.Equal(got, []string{"d", "c"}) {
		t.Errorf("open: %q", got)
	}
}
