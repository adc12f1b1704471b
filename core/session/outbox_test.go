package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// serve writes a cursor as a courier does; drop is the record up to which nothing is due any more.
func serve(t *testing.T, mem *storetest.Memory, cur session.Cursor, drop ledger.Seq) {
	t.Helper()
	st, err := mem.Address(t.Context(), dm)
	if err != nil {
		t.Fatal(err)
	}
	b := session.Batch{ID: session.NewBatchID(), Cursors: []session.CursorWrite{{Address: dm, Rev: st.CursorRev, Cursor: cur}}}
	if drop > 0 {
		b.Due = []session.DueWrite{{Address: dm, Seq: drop, Drop: true}}
	}
	if _, err := session.CommitWait(t.Context(), mem, b); err != nil {
		t.Fatal(err)
	}
}

func at(t *testing.T, mem session.Store, a session.Address) session.AddressState {
	t.Helper()
	st, err := mem.Address(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// exchange has one message answered and returns it.
func (b *bench) exchange(textOf string) session.Inbound {
	b.t.Helper()
	in := msg(dm, "slack:U1", textOf)
	b.accept(in)
	synctest.Wait()
	b.ended(in, session.EndAnswered)
	return in
}

// The final Batch carries the first intent exactly where everything before it has been shown.
func TestTheIntentComesOnlyWhereTheAddressIsCaughtUp(t *testing.T) {
	for name, c := range map[string]struct {
		cursor session.Cursor
		drop   ledger.Seq
		want   bool
	}{
		"caught up":              {session.Cursor{Seq: 3}, 2, true},
		"caught up, not dropped": {session.Cursor{Seq: 3}, 0, true},
		"before the last answer": {session.Cursor{Seq: 2}, 0, false},
		"in the last answer":     {session.Cursor{Seq: 2, Offset: 10}, 0, false},
		"an attempt under way":   {session.Cursor{Seq: 2, Attempt: &session.Attempt{N: 1, Life: "life"}}, 0, false},
		"an attempt further on":  {session.Cursor{Seq: 3, Attempt: &session.Attempt{N: 1, Life: "life"}}, 0, false},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					b := start(t, mem, echo(0))
					b.exchange("one")
					serve(t, mem, c.cursor, c.drop)
					if restart {
						b.stopLife()
						b = start(t, mem, echo(0))
					}
					b.exchange("two")
					st := at(t, mem, dm)
					got := st.Cursor.Seq == 4 && st.Cursor.Attempt != nil && st.Cursor.Attempt.N == 1
					if got != c.want {
						t.Errorf("cursor %+v, want an intent for record 4: %v", st.Cursor, c.want)
					}
					if !c.want && (st.Cursor.Seq != c.cursor.Seq || st.Cursor.Offset != c.cursor.Offset) {
						t.Errorf("cursor moved to %+v", st.Cursor)
					}
					if st.Due != 4 {
						t.Errorf("due %d, want 4", st.Due)
					}
					b.stopLife()
				})
			})
		}
	}
}

// A courier that moves its cursor between the worker's look and its commit costs the intent, not the answer.
func TestACursorMovedMeanwhileCostsOnlyTheIntent(t *testing.T) {
	for name, hurry := range map[string]bool{"answer": true, "notice": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := echo(0)
				o := &odd{Memory: mem}
				moved := 0
				o.before = func(b *session.Batch) {
					if len(b.Cursors) > 0 && moved < 10 {
						moved++
						serve(t, mem, session.Cursor{Seq: 1, Layout: uint16(moved)}, 0)
					}
				}
				b := start(t, mem, p, on(o))
				in := msg(dm, "slack:U1", map[bool]string{true: "hi", false: " "}[hurry])
				b.accept(in)
				synctest.Wait()
				b.ended(in, map[bool]session.End{true: session.EndAnswered, false: session.EndNoticed}[hurry])
				st := at(t, mem, dm)
				if moved != 1 || st.Cursor.Layout != 1 || st.Due != ledger.Seq(len(b.log(dm))) {
					t.Errorf("%d cursors in Batches; cursor %+v, due %d", moved, st.Cursor, st.Due)
				}
				if len(p.prompts()) > 1 || len(b.events()) == 0 {
					t.Errorf("%d prompts, events %q", len(p.prompts()), b.events())
				}
				b.stopLife()
			})
		})
	}
}

// Who was given up as gone and writes again is served again.
func TestAnAddressThatWasGoneIsServedWhenSomebodyWritesThere(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		b.exchange("one")
		for _, live := range []bool{true, false} {
			st := at(t, mem, dm)
			gone := st.Binding
			gone.Gone = true
			bury := session.Batch{ID: session.NewBatchID(),
				Bindings: []session.BindingWrite{{Address: dm, Rev: st.BindingRev, Binding: gone}},
				Cursors:  []session.CursorWrite{{Address: dm, Rev: st.CursorRev, Cursor: session.Cursor{Seq: st.Due + 1}}},
				Due:      []session.DueWrite{{Address: dm, Seq: st.Due, Drop: true}}}
			if _, err := session.CommitWait(t.Context(), mem, bury); err != nil {
				t.Fatal(err)
			}
			if !live {
				b.stopLife()
				b = start(t, mem, echo(0))
			}
			b.exchange("two")
			if st := at(t, mem, dm); st.Binding.Gone || st.Binding.From != 1 || st.Due == 0 {
				t.Errorf("binding %+v, due %d: want it back as it was", st.Binding, st.Due)
			}
		}
		b.stopLife()
	})
}

// Every way to an end says when the entry may be forgotten; nothing that waits does.
func TestEveryEndHasAnExpiry(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second), func(c *session.Config) { c.KeepEntries = 48 * time.Hour })
		answered, noticed := msg(dm, "slack:U1", "hi"), msg("slack:T1/D2", "slack:U1", " ")
		guest := func(in *session.Inbound) { in.Author.Guest = true }
		refused, silent := msg("slack:T1/D3", "slack:U3", "hi", guest), msg("slack:T1/D3", "slack:U3", "hi", guest)
		heard := msg("slack:T1/C1/1", "slack:U2", "hm", func(in *session.Inbound) { in.Call = session.CallAmbient })
		b.accept(msg("slack:T1/C1/1", "slack:U1", "hi", func(in *session.Inbound) { in.Call = session.CallMention }))
		for _, in := range []session.Inbound{answered, noticed, refused, silent, heard} {
			b.accept(in)
		}
		if !mem.Expiry(answered.ID()).IsZero() {
			t.Error("a message that waits has an expiry")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, in := range []session.Inbound{answered, noticed, refused, silent, heard} {
			if left := time.Until(mem.Expiry(in.ID())); left < 47*time.Hour || left > 48*time.Hour {
				t.Errorf("%s expires in %s, want 48 h", in, left)
			}
		}
		b.ended(silent, session.EndRefused)
		b.stopLife()
	})
}

// The nudge for an end carries its sequence; progress would carry none.
func TestANoticeNamesItsRecord(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		in := msg(dm, "slack:U1", " ")
		b.accept(in)
		synctest.Wait()
		if e := b.entry(in); e.EndSeq != 1 || e.Thread != session.ThreadOf(in.ID()) {
			t.Errorf("entry ended by %s %d", e.Thread, e.EndSeq)
		}
		recs, _ := mem.Log(context.Background(), session.ThreadOf(in.ID()), 1, 10)
		if len(recs) != 1 || recs[0].End.Reply != in.Message || recs[0].End.To != dm || recs[0].End.Entries[0] != in.ID() {
			t.Errorf("log %+v", recs)
		}
		b.stopLife()
	})
}

// Somebody who is refused makes no conversation of a place: what is said there afterwards isn't kept.
func TestARefusalIsNoConversation(t *testing.T) {
	const thread = session.Address("slack:T1/C1/1.0")
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		guest := func(call session.Call) func(*session.Inbound) {
			return func(in *session.Inbound) { in.Author.Guest, in.Call = true, call }
		}
		b := start(t, mem, echo(0))
		for life := range 2 {
			b.accept(msg(thread, "slack:G1", "hi", guest(session.CallMention)))
			synctest.Wait()
			for _, author := range []string{"slack:G1", "slack:U1"} {
				in := msg(thread, author, "and?", func(in *session.Inbound) { in.Call, in.Author.Guest = session.CallAmbient, author == "slack:G1" })
				if r := b.accept(in); r.Ignored != session.IgnoredAmbient {
					t.Errorf("life %d: %s's talk beside a refusal: %+v", life, author, r)
				}
			}
			b.stopLife()
			b = start(t, mem, echo(0))
		}
		b.stopLife()
	})
}

func TestTheWindowNeverBeginsInsideAnExchange(t *testing.T) {
	for _, size := range []int{100, 3000, 30_000} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			p := callTwice(size)
			with := func(c *session.Config) { c.WindowBytes = 20_000; reacting(c, result(strings.Repeat("z", size))) }
			b := start(t, mem, p, with)
			for i := range 40 {
				if i%7 == 6 {
					b.stopLife()
					b = start(t, mem, p, with)
				}
				b.exchange("q")
			}
			for n, prompt := range p.prompts() {
				if r := prompt[0].Role; r != ledger.RoleUser {
					t.Fatalf("size %d: prompt %d begins with a turn of %s", size, n, r)
				}
				if len(prompt) > 130 {
					t.Fatalf("size %d: prompt %d has %d turns", size, n, len(prompt))
				}
			}
			b.stopLife()
		})
	}
}

// A thread in which everything fails is bounded in memory too.
func TestFailuresMoveTheWindowToo(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := failing(provider.KindDenied, 1<<30)
		b := start(t, mem, p, func(c *session.Config) { c.WindowBytes = 20_000 })
		for range 300 {
			b.accept(msg(dm, "slack:U1", "q"))
			synctest.Wait()
		}
		for n, prompt := range p.prompts() {
			if len(prompt) > 110 {
				t.Fatalf("prompt %d has %d turns, with a window of about 100", n, len(prompt))
			}
		}
		b.stopLife()
	})
}
