package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// While the store has no room for a question, the model isn't asked it again and again.
func TestAFullStoreAsksTheModelNothing(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Second)
		full := 60
		o := &odd{Memory: mem, before: func(b *session.Batch) {
			if b.State != nil && full > 0 {
				full--
				mem.FailNext(session.ErrPaused)
			}
		}}
		b := start(t, mem, p, on(o))
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if n := len(p.prompts()); n > 2 {
			t.Errorf("the model was asked %d times", n)
		}
		b.stopLife()
	})
}

// A tool may have any effect: it doesn't run before its call is durable.
func TestACallIsDurableBeforeItsToolRuns(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := &tools{}
		o := &odd{Memory: mem, before: func(b *session.Batch) {
			if len(b.Log) > 0 && b.Log[0].Turn != nil && b.Log[0].Turn.HasToolCall() {
				mem.Hold()
			}
		}}
		b := start(t, mem, callTwice(1), on(o), func(c *session.Config) { reacting(c, h) })
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		for n := range 2 {
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(h.ran) != n {
				t.Errorf("%d tools have run, want %d", len(h.ran), n)
			}
			mem.Release()
		}
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.stopLife()
	})
}

// What the model is shown in the rounds of one answer is the log, turn for turn.
func TestEveryRoundIsShownTheWholePath(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := callTwice(1)
		b := start(t, mem, p, func(c *session.Config) { reacting(c, result("ok")) })
		for range 3 {
			b.exchange("q")
		}
		for n, prompt := range p.prompts() {
			for i, turn := range prompt {
				if turn.ID.Seq != ledger.Seq(i+1) {
					t.Fatalf("prompt %d shows turn %d at place %d", n, turn.ID.Seq, i)
				}
			}
			if want := n/3*6 + n%3*2 + 1; len(prompt) != want {
				t.Errorf("prompt %d has %d turns, want %d", n, len(prompt), want)
			}
		}
		b.stopLife()
	})
}

func TestAThreadStaysLiveUntilItIsIdle(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) { c.IdleEvict = time.Hour })
		for range 3 {
			b.exchange("q")
			time.Sleep(50 * time.Minute)
			if n := b.m.Live(); n != 1 {
				t.Errorf("%d threads live after 50 minutes of an hour", n)
			}
		}
		time.Sleep(30 * time.Minute)
		if n := b.m.Live(); n != 0 {
			t.Errorf("%d threads live after 80 minutes", n)
		}
		b.stopLife()
	})
}

// A thread with two addresses: a question is due at the other one at once, the answer at both.
func TestAQuestionIsDueAtTheOtherAddress(t *testing.T) {
	const other = session.Address("slack:T1/D2")
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		b.exchange("one")
		b.stopLife()
		id := at(t, mem, dm).Binding.Thread
		th, _, _, err := mem.Thread(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		th.Addresses = append(th.Addresses, other)
		if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(), Thread: id, After: th.Last, State: &th,
			Bindings: []session.BindingWrite{{Address: other, Binding: session.Binding{Thread: id, From: 3}}}}); err != nil {
			t.Fatal(err)
		}
		b = start(t, mem, echo(time.Minute))
		in := msg(dm, "slack:U1", "two")
		b.accept(in)
		time.Sleep(time.Second)
		if here, there := at(t, mem, dm), at(t, mem, other); here.Due != 2 || there.Due != 3 {
			t.Errorf("during the turn %d is due where it was asked, %d at the other address; want 2 and 3", here.Due, there.Due)
		}
		time.Sleep(time.Hour)
		for _, a := range []session.Address{dm, other} {
			if st := at(t, mem, a); st.Due != 4 {
				t.Errorf("%s: due %d, want 4", a, st.Due)
			}
		}
		if c := at(t, mem, other).Cursor; c.Attempt != nil {
			t.Errorf("the other address, which is behind, has the intent %+v", c)
		}
		b.stopLife()
	})
}

// Threads that wait for a worker aren't kept waiting by the backlogs of those that have one.
func TestABacklogGivesWay(t *testing.T) {
	const threads, each = 1100, 3
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second), func(c *session.Config) { c.OneByOne, c.MaxConcurrent = true, threads })
		mem.Hold()
		var first []session.Inbound
		for i := range threads * each {
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", i%threads)), "slack:U1", "hi")
			if i < threads {
				first = append(first, in)
			}
			b.m.Accept(t.Context(), in, func(session.Receipt) {})
		}
		mem.Release()
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		for _, in := range first {
			if e := b.entry(in); e.State != session.EntryEnded {
				t.Fatalf("%s waits for the backlogs of others", in)
			}
		}
		time.Sleep(time.Minute)
		b.stopLife()
	})
}

// Two threads that refuse the same person at the same time say so once.
func TestTwoThreadsRefuseOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		o := &odd{Memory: mem}
		b := start(t, mem, echo(0), on(o), func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Allowlist}}
		})
		var held atomic.Bool
		o.before = func(b *session.Batch) {
			if len(b.Small) > 0 && held.CompareAndSwap(false, true) {
				mem.Hold() // until both have looked
			}
		}
		var all []session.Inbound
		for i := range 5 {
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", i)), "slack:U1", "hi")
			all = append(all, in)
		}
		for _, in := range all {
			b.m.Accept(context.Background(), in, func(session.Receipt) {})
		}
		time.Sleep(time.Second)
		mem.Release()
		time.Sleep(time.Second)
		synctest.Wait()
		for _, in := range all {
			b.ended(in, session.EndRefused)
		}
		if n := len(b.events()); n != 1 {
			t.Errorf("one person was told %d times: %s", n, strings.Join(b.events(), "; "))
		}
		b.stopLife()
	})
}

// A turn may take longer than a thread may be idle.
func TestAThreadAtWorkIsNotIdle(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(3*time.Hour), func(c *session.Config) { c.IdleEvict = time.Minute })
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(2 * time.Hour)
		if n := b.m.Live(); n != 1 {
			t.Errorf("%d threads live in the middle of a turn", n)
		}
		time.Sleep(2 * time.Hour)
		b.ended(in, session.EndAnswered)
		if n := len(b.p.prompts()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		b.stopLife()
	})
}
