package session_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
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

func reacting(c *session.Config, h loop.Handler) {
	c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 100}, []loop.Handler{h}
}

// callTwice calls a tool twice before it answers with size bytes.
func callTwice(size int) *scripted {
	return &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		calls := 0
		for i := len(turns) - 1; turns[i].Role != ledger.RoleUser; i-- {
			if turns[i].HasToolCall() {
				calls++
			}
		}
		if calls < 2 {
			return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprintf("c%d", calls), Name: "n", Arguments: "{}"}}, nil
		}
		return text(strings.Repeat("a", size)), nil
	}}
}

// kill runs a life that ends without another write after d.
func kill(t *testing.T, mem *storetest.Memory, p *scripted, d time.Duration, change ...func(*session.Config)) {
	t.Helper()
	c := &crashing{Memory: mem, left: 1 << 30}
	cfg := config(c, p)
	for _, f := range change {
		f(&cfg)
	}
	cfg.Store, cfg.ShutdownGrace = c, 0
	m := session.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	time.Sleep(d)
	c.mu.Lock()
	c.left = -10
	c.mu.Unlock()
	cancel()
	<-done
}

// hang is a tool that never returns by itself.
type hang struct{ ran *atomic.Int32 }

func (h hang) Handle(ctx context.Context, a artifact.Artifact, _ loop.Emitter) error {
	if _, ok := a.(artifact.ToolCall); ok {
		h.ran.Add(1)
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// A tool that brings the process down each time doesn't do so for ever: neither its call nor the note of what was interrupted is
// progress.
func TestAToolThatBringsTheProcessDownIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := callTwice(10)
		p.answer = func(_ context.Context, n int, _ []ledger.Turn) ([]artifact.Artifact, error) {
			return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", n), Name: "n", Arguments: "{}"}}, nil
		}
		ran := &atomic.Int32{}
		in := msg(dm, "slack:U1", "hi")
		m := session.New(config(mem, p))
		m.Accept(t.Context(), in, func(session.Receipt) {})
		synctest.Wait()
		lives := 0
		b := &bench{t: t, store: mem}
		for ; lives < 20 && b.entry(in).State != session.EntryEnded; lives++ {
			kill(t, mem, p, time.Second, func(c *session.Config) { reacting(c, hang{ran}) })
		}
		if lives != 9 || ran.Load() != 8 {
			t.Errorf("given up in life %d after %d runs of the tool, want life 9 after 8", lives, ran.Load())
		}
		b.ended(in, session.EndNoticed)
	})
}

// Progress resets the strikes: a long turn may survive any number of crashes that each come later than the one before.
func TestProgressIsNoStrike(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(ctx context.Context, n int, _ []ledger.Turn) ([]artifact.Artifact, error) {
			select {
			case <-time.After(time.Minute):
				return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", n), Name: "n", Arguments: "{}"}}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		in := msg(dm, "slack:U1", "hi")
		session.New(config(mem, p)).Accept(t.Context(), in, func(session.Receipt) {})
		synctest.Wait()
		for range 20 {
			kill(t, mem, p, 90*time.Second, func(c *session.Config) { reacting(c, result("ok")) })
		}
		b := &bench{t: t, store: mem}
		if e := b.entry(in); e.State != session.EntrySubmitted || e.Starts > 1 {
			t.Errorf("state %d, %d starts after 20 lives with progress", e.State, e.Starts)
		}
		b = start(t, mem, echo(0))
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.stopLife()
	})
}

// Messages that only waited for one that must be alone aren't to blame for the stops meanwhile.
func TestWaitingForTheLonelyOneIsNoStrike(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Hour)
		var all []session.Inbound
		for i := range 3 {
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", i)), "slack:U1", "hi")
			all = append(all, in)
			session.New(config(mem, p)).Accept(t.Context(), in, func(session.Receipt) {})
		}
		synctest.Wait()
		for range 5 {
			kill(t, mem, p, time.Second)
		}
		b := &bench{t: t, store: mem}
		for range 12 {
			b = start(t, mem, p, func(c *session.Config) { c.ShutdownGrace = time.Second })
			time.Sleep(time.Second)
			b.stopLife()
		}
		for _, in := range all {
			if e := b.entry(in); e.State != session.EntrySubmitted || e.Starts > 0 {
				t.Errorf("%s: state %d, %d starts after orderly stops", in, e.State, e.Starts)
			}
		}
		b = start(t, mem, echo(0))
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, in := range all {
			b.ended(in, session.EndAnswered)
		}
		b.stopLife()
	})
}

// From the fifth start on a message runs alone.
func TestTheFifthStartIsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		var now, most atomic.Int32
		p := &scripted{answer: func(ctx context.Context, _ int, _ []ledger.Turn) ([]artifact.Artifact, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			select {
			case <-time.After(time.Minute):
				return text("ok"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		for i := range 3 {
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", i)), "slack:U1", "hi")
			session.New(config(mem, p)).Accept(t.Context(), in, func(session.Receipt) {})
		}
		synctest.Wait()
		for life := 1; life <= 5; life++ {
			most.Store(0)
			kill(t, mem, p, time.Second)
			if want := map[bool]int32{true: 3, false: 1}[life < 5]; most.Load() != want {
				t.Errorf("life %d: %d turns beside each other, want %d", life, most.Load(), want)
			}
		}
	})
}

// Thousands of messages that wait at a start are worked on by a bounded number of goroutines, each thread in its order.
func TestALongBacklogAtTheStart(t *testing.T) {
	const threads, each = 1200, 2
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		m := session.New(config(mem, echo(0)))
		for i := range threads * each {
			a := session.Address(fmt.Sprintf("slack:T1/D%d", i%threads))
			m.Accept(t.Context(), msg(a, fmt.Sprintf("slack:U%d", i/threads), fmt.Sprint(i/threads)), func(session.Receipt) {})
		}
		synctest.Wait()
		var most atomic.Int32
		p := echo(0)
		inner := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			time.Sleep(10 * time.Millisecond)
			most.Store(max(most.Load(), int32(runtime.NumGoroutine())))
			return inner(ctx, n, turns)
		}
		b := start(t, mem, p)
		time.Sleep(time.Hour)
		synctest.Wait()
		t.Logf("%d goroutines at once", most.Load())
		if n := most.Load(); n > 3100 { // a worker, its turn and a call for each of a thousand
			t.Errorf("%d goroutines at once", n)
		}
		for i := 0; i < threads; i += 97 {
			equal(t, "log", b.log(session.Address(fmt.Sprintf("slack:T1/D%d", i))),
				[]string{"user 0", "assistant re: 0", "user 1", "assistant re: 1"})
		}
		if tot, _ := mem.Totals(t.Context()); tot.Waiting != 0 || tot.Ended[session.EndAnswered] != threads*each {
			t.Errorf("totals %+v", tot)
		}
		b.stopLife()
	})
}

// A stop while Streams wait for a worker leaves them all for the next life.
func TestAStopInTheMiddleOfABacklog(t *testing.T) {
	const threads = 1200
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		m := session.New(config(mem, echo(0)))
		for i := range threads {
			m.Accept(t.Context(), msg(session.Address(fmt.Sprintf("slack:T1/D%d", i)), "slack:U1", "hi"), func(session.Receipt) {})
		}
		synctest.Wait()
		for range 3 {
			b := start(t, mem, echo(time.Minute), func(c *session.Config) { c.ShutdownGrace = time.Second })
			time.Sleep(time.Second)
			b.stopLife()
		}
		b := start(t, mem, echo(0))
		time.Sleep(time.Hour)
		synctest.Wait()
		if tot, _ := mem.Totals(t.Context()); tot.Waiting != 0 || tot.Ended[session.EndAnswered] != threads {
			t.Errorf("totals %+v", tot)
		}
		b.stopLife()
	})
}
