package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

const month = 30 * 24 * time.Hour

func retiring(c *session.Config) { c.Retention, c.MaxAge = month, 0 }

// Conversations that are idle for longer than the retention are deleted for good, with what was said beside them; those in use stay,
// and so does what an idle one still owes somebody. Who comes back begins afresh.
func TestRetentionDeletesIdleConversations(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const used, owing = session.Address("slack:T1/D2"), session.Address("slack:T1/D3")
		b := start(t, mem, echo(0), commanded(mem), retiring)
		got := b.tell("secret one", "/new", "secret two", "/model big:7b")
		b.accept(msg(used, "slack:U2", "kept"))
		b.accept(msg(owing, "slack:U3", "kept too"))
		synctest.Wait()
		old := at(t, mem, dm).Binding
		for _, a := range []session.Address{dm, used} {
			b.delivered(a)
		}
		time.Sleep(month - time.Hour)
		synctest.Wait()
		if l := b.log(dm); len(l) < 3 {
			t.Errorf("deleted too early: %q", l)
		}
		b.accept(msg(used, "slack:U2", "again"))
		synctest.Wait()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		erased(t, mem, dm, "secret", append(old.Back, old.Thread)...)
		if st := at(t, mem, dm); st.Due != 0 || len(st.Binding.Back)+len(st.Binding.Before)+len(st.Binding.Left) > 0 || st.Cursor.Leg != st.Binding.Leg {
			t.Errorf("the address: %+v", st)
		}
		equal(t, "the used one", b.log(used), []string{"user kept", "assistant re: kept", "user again", "assistant re: again"})
		equal(t, "the owing one", b.log(owing), []string{"user kept too", "assistant re: kept too"})
		if r := b.accept(got[0]); !r.Duplicate {
			t.Errorf("delivered again: %+v", r)
		}
		b.ended(b.tell("three")[0], session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user three", "assistant re: three"})
		if p := b.p.prompts(); len(p[len(p)-1]) != 1 {
			t.Errorf("the model was shown %d turns", len(p[len(p)-1]))
		}
		b.delivered(owing)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		erased(t, mem, owing, "kept too")
		b.stopLife()
	})
}

// delivered is what the courier writes once all is shown.
func (b *bench) delivered(a session.Address) {
	b.t.Helper()
	st := at(b.t, b.store, a)
	_, err := session.CommitWait(b.t.Context(), b.store, session.Batch{ID: session.NewBatchID(),
		Cursors: []session.CursorWrite{{Address: a, Rev: st.CursorRev, Cursor: session.Cursor{Seq: st.Due + 1, Leg: st.Binding.Leg}}},
		Due:     []session.DueWrite{{Address: a, Seq: st.Due, Drop: true}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// Of the conversations before one that is in use, the idle ones go, and undo no longer returns to them.
func TestRetentionDeletesEarlierConversations(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem), retiring)
		b.tell("secret", "/new", "two")
		old := at(t, mem, dm).Binding
		for range 40 {
			time.Sleep(24 * time.Hour)
			b.tell("day")
			b.delivered(dm)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		erased(t, mem, dm, "secret", old.Back...)
		if st := at(t, mem, dm).Binding; len(st.Back) > 0 || st.Thread != old.Thread {
			t.Errorf("the binding: %+v", st)
		}
		if l := b.log(dm); l[0] != "user two" || len(l) != 82 {
			t.Errorf("%d records, which begin with %q", len(l), l[0])
		}
		b.stopLife()
	})
}

// meeting is a store at which somebody writes in the very moment in which their conversation is to be deleted: just before, or behind.
type meeting struct {
	*storetest.Memory
	before, behind func()
}

func (m *meeting) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	if !slices.ContainsFunc(b.Small, func(w session.SmallWrite) bool { return w.Space == "forgotten" && w.Value != nil }) || m.before == nil {
		m.Memory.Commit(ctx, b, done)
		return
	}
	before := m.before
	m.before = nil
	go func() {
		before()
		m.Memory.Commit(ctx, b, func(r session.Result, err error) {
			done(r, err)
			go m.behind()
		})
	}()
}

func TestRetentionMeetsAMessage(t *testing.T) {
	for _, c := range []struct {
		behind bool
		d      time.Duration // that an answer takes
	}{{false, 0}, {false, time.Minute}, {true, 0}, {true, time.Minute}} {
		behind := c.behind
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				st := &meeting{Memory: mem, before: func() {}, behind: func() {}}
				b := start(t, mem, echo(c.d), commanded(mem), retiring, func(c *session.Config) { c.Store, c.IdleEvict = st, 10*month })
				in := msg(dm, "slack:U1", "in that moment")
				come := func() { in.At = time.Now(); b.accept(in); time.Sleep(time.Second) }
				if st.before = come; behind {
					st.before, st.behind = func() {}, come
				}
				b.tell("secret")
				time.Sleep(c.d)
				synctest.Wait()
				b.delivered(dm)
				time.Sleep(month + 2*time.Hour)
				synctest.Wait()
				b.ended(in, session.EndAnswered)
				want := []string{"user in that moment", "assistant re: in that moment"}
				if !behind {
					want = append([]string{"user secret", "assistant re: secret"}, want...)
				}
				equal(t, "log", b.log(dm), want)
				b.stopLife()
			})
		})
	}
}

// Whatever commit the process dies at, what is idle is gone in the end, and the next message begins afresh.
func TestDeathAtEveryCommitOfRetention(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for left := range 6 {
			t.Run(fmt.Sprintf("%v/%d", applied, left), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					b := start(t, mem, echo(0), commanded(mem))
					first := b.tell("secret", "/new", "secret two")
					b.delivered(dm)
					b.stopLife()
					time.Sleep(2 * month)
					for _, n := range []int{left, 1 << 30} {
						(&crashing{Memory: mem, left: n, applied: applied}).run(t, b.p, nil, retiring, func(c *session.Config) { c.Retention = time.Minute })
						time.Sleep(time.Hour)
					}
					(&crashing{Memory: mem, left: 1 << 30}).run(t, b.p, []session.Inbound{msg(dm, "slack:U1", "three")}, commanded(mem))
					erased(t, mem, dm, "secret", session.ThreadOf(first[0].ID()), session.ThreadOf(first[1].ID()))
					b = &bench{t: t, store: mem}
					if l := strings.Join(b.log(dm), "\n"); l != "user three\nassistant re: three" {
						t.Errorf("log %q", l)
					}
				})
			})
		}
	}
}

// A place that has come to another conversation, in which nobody has said anything yet, owes nobody anything: what was before it goes in its
// time.
func TestRetentionAfterNew(t *testing.T) {
	for name, commands := range map[string][]string{"new": {"/new"}, "new, twice": {"/new", "two", "/new"}, "back": {"/new", "two", "/undo", "/undo"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0), commanded(mem), retiring)
				b.tell("secret")
				first := at(t, mem, dm).Binding.Thread
				b.tell(commands...)
				_, stop := delivering(t, mem, mem, "life", &conduittest.Platform{})
				time.Sleep(month + 4*time.Hour)
				stop()
				erased(t, mem, dm, "secret", first)
				b.ended(b.tell("three")[0], session.EndAnswered)
				b.stopLife()
			})
		})
	}
}
