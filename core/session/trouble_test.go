package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// odd is a store some of whose calls a test replaces.
type odd struct {
	*storetest.Memory
	entry   func(session.EntryID) error
	address func(session.Address) error
	thread  func() error
	before  func(b *session.Batch) // of each commit
}

func (o *odd) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	if o.entry != nil {
		if err := o.entry(id); err != nil {
			return session.StoredEntry{}, false, err
		}
	}
	return o.Memory.Entry(ctx, id)
}

func (o *odd) Address(ctx context.Context, a session.Address) (session.AddressState, error) {
	if o.address != nil {
		if err := o.address(a); err != nil {
			return session.AddressState{}, err
		}
	}
	return o.Memory.Address(ctx, a)
}

func (o *odd) Thread(ctx context.Context, id ledger.ThreadID) (session.Thread, session.Revision, bool, error) {
	if o.thread != nil {
		if err := o.thread(); err != nil {
			return session.Thread{}, session.Revision{}, false, err
		}
	}
	return o.Memory.Thread(ctx, id)
}

func (o *odd) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	if o.before != nil {
		o.before(&b)
	}
	o.Memory.Commit(ctx, b, done)
}

func on(o *odd) func(*session.Config) { return func(c *session.Config) { c.Store = o } }

// times returns a function that fails n times with err.
func times(n int, err error) func() error {
	var mu sync.Mutex
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		if n--; n >= 0 {
			return err
		}
		return nil
	}
}

// Whatever happens to whichever commit, and however often, the process living on: one turn, one answer, and no question is asked
// twice for a store that was only full.
func TestTroubleAtEveryCommit(t *testing.T) {
	for name, fail := range map[string]func(*storetest.Memory){
		"full":               func(m *storetest.Memory) { m.FailNext(session.ErrPaused) },
		"unknown, not there": func(m *storetest.Memory) { m.FailNext(session.ErrUnknown) },
		"unknown, there":     func(m *storetest.Memory) { m.FailNextApplied(session.ErrUnknown) },
		"another error":      func(m *storetest.Memory) { m.FailNext(errors.New("no")) },
		"conflict":           func(m *storetest.Memory) { m.FailNext(&session.Conflict{What: "log"}) },
	} {
		for at := 1; at <= 4; at++ { // the two user turns and the two answers
			for _, often := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, at, often), func(t *testing.T) {
					bubble(t, func(t *testing.T, mem *storetest.Memory) { trouble(t, mem, fail, at, often) })
				})
			}
		}
	}
}

func trouble(t *testing.T, mem *storetest.Memory, fail func(*storetest.Memory), at, often int) {
	n := 0
	o := &odd{Memory: mem}
	o.before = func(b *session.Batch) {
		if b.State == nil {
			return
		}
		if n++; n >= at && n < at+often {
			fail(mem)
		}
	}
	p := echo(time.Second)
	b := start(t, mem, p, on(o))
	one, two := msg(dm, "slack:U1", "one"), msg(dm, "slack:U2", "two")
	b.accept(one)
	time.Sleep(10 * time.Minute)
	b.accept(two)
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	b.ended(one, session.EndAnswered)
	b.ended(two, session.EndAnswered)
	equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant re: two"})
	if got := len(b.answers()); got != 2 {
		t.Errorf("%d answers announced, want 2: %q", got, b.events())
	}
	if st, _ := mem.Address(t.Context(), dm); st.Due != 4 {
		t.Errorf("due %d, want 4", st.Due)
	}
	b.stopLife()
}

// answers returns the announced turns of the assistant.
func (b *bench) answers() (out []string) {
	for _, ev := range b.events() {
		if len(ev) > len(dm)+10 && ev[len(dm)+1:len(dm)+10] == "assistant" {
			out = append(out, ev)
		}
	}
	return out
}

func TestAFullStoreCostsNoSecondAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Second)
		b := start(t, mem, p)
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(500 * time.Millisecond)
		for range 50 {
			mem.FailNext(session.ErrPaused)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if n := len(p.prompts()); n != 1 {
			t.Errorf("the model was asked %d times, want once", n)
		}
		b.stopLife()
	})
}

// Reading may fail for a while, anywhere.
func TestReadsThatFailForAWhileLoseNothing(t *testing.T) {
	no := errors.New("no")
	for name, set := range map[string]func(o *odd, f func() error){
		"entry":   func(o *odd, f func() error) { o.entry = func(session.EntryID) error { return f() } },
		"address": func(o *odd, f func() error) { o.address = func(session.Address) error { return f() } },
		"thread":  func(o *odd, f func() error) { o.thread = f },
	} {
		for n := range 6 {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					b := start(t, mem, echo(0))
					b.accept(msg(dm, "slack:U1", "one"))
					synctest.Wait()
					b.stopLife()
					o := &odd{Memory: mem}
					set(o, times(n, no))
					b = start(t, mem, echo(time.Second), on(o))
					two, three := msg(dm, "slack:U1", "two"), msg(dm, "slack:U2", "three")
					b.accept(two)
					b.accept(three)
					time.Sleep(time.Hour)
					synctest.Wait()
					b.ended(two, session.EndAnswered)
					b.ended(three, session.EndAnswered)
					equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant re: two",
						"user three", "assistant re: three"})
					b.stopLife()
				})
			})
		}
	}
}

// An entry that was submitted in another life is resumed on its own log, even if its address can't be read when it is listed.
func TestASubmittedEntryIsResumedWhereItsTurnIs(t *testing.T) {
	for n := range 4 {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, echo(0))
			b.accept(msg(dm, "slack:U1", "one"))
			synctest.Wait()
			b.stopLife()
			b = start(t, mem, echo(time.Hour), func(c *session.Config) { c.ShutdownGrace = 0 })
			in := msg(dm, "slack:U1", "two")
			b.accept(in)
			time.Sleep(time.Second)
			b.stopLife()
			f := times(n, errors.New("no"))
			p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
				return text(fmt.Sprintf("answer to %d turns", len(turns))), nil
			}}
			b = start(t, mem, p, on(&odd{Memory: mem, address: func(session.Address) error { return f() }}))
			time.Sleep(time.Hour)
			synctest.Wait()
			b.stopLife()
			b.ended(in, session.EndAnswered)
			equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant answer to 3 turns"})
			if st, _ := mem.Address(t.Context(), dm); st.Due != 4 {
				t.Errorf("%d reads failed: due %d, want 4", n, st.Due)
			}
		})
	}
}

// deaf is a store whose feed fails.
type deaf struct{ *storetest.Memory }

func (deaf) Watch(context.Context, func(session.EntryID)) error {
	time.Sleep(time.Second)
	return errors.New("disk")
}

// Without a feed nothing is answered any more: Run says so instead of waiting for somebody to end it.
func TestRunEndsWithItsFeed(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		m := session.New(config(deaf{mem}, echo(0)))
		if err := m.Run(t.Context()); err == nil || err.Error() != "disk" {
			t.Errorf("Run returned %v", err)
		}
	})
}

// Where two workers meet at an address, the one that comes second reads again, and the operator is told of no error. What stays in the
// way is one.
func TestAMeetingOfWorkersIsNoError(t *testing.T) {
	for often, want := range map[int]string{1: "INFO", 2: "INFO ERROR"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			var log bytes.Buffer
			n := 0
			o := &odd{Memory: mem, before: func(b *session.Batch) {
				if b.State == nil || len(b.Cursors) > 0 { // the answer, which may be on its way before it is known that its question failed
					return
				}
				if n++; n <= often {
					mem.FailNext(&session.Conflict{What: "binding slack:T1/D1"})
				}
			}}
			b := start(t, mem, echo(time.Second), on(o), func(c *session.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			one := b.tell("one")[0] // its answer comes long after its question is written: each of the writes fails alone
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(one, session.EndAnswered)
			b.stopLife()
			var levels []string
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, `msg="thread read again"`) {
					levels = append(levels, strings.TrimPrefix(strings.Fields(line)[1], "level="))
				}
			}
			if got := strings.Join(levels, " "); got != want {
				t.Errorf("%d conflicts are told as %q, want %q", often, got, want)
			}
		})
	}
}
