package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// erased fails unless nothing of a word is left: no thread of ids, no note of a message, no text in an entry.
func erased(t *testing.T, mem *storetest.Memory, a session.Address, word string, ids ...ledger.ThreadID) {
	t.Helper()
	for _, id := range ids {
		if _, _, ok, _ := mem.Thread(context.Background(), id); ok {
			t.Errorf("thread %s is still there", id)
		}
	}
	entries, err := mem.Entries(context.Background(), a, "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(fmt.Sprintf("%+v", e), word) {
			t.Errorf("an entry still says it: %+v", e)
		}
	}
	graves, err := mem.SmallList(context.Background(), "forgotten", "", 10)
	if err != nil || len(graves) > 0 {
		t.Errorf("graves %v, %v", graves, err)
	}
}

func TestForgetDeletesForGood(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem))
		got := b.tell("secret one", "/new", "secret two", "/undo", "/undo", "secret three")
		old := at(t, mem, dm).Binding
		b.tell("/forget yes") // nothing was asked for
		b.tell("/forget")
		time.Sleep(6 * time.Minute)
		b.tell("/forget yes") // too late
		if l := b.log(dm); !strings.Contains(last(l), "nothing to confirm") {
			t.Fatalf("log %q", l)
		}
		done := b.tell("/forget", "/forget yes")[1]
		b.ended(done, session.EndNoticed)
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"end Forgotten."})
		erased(t, mem, dm, "secret", append(old.Left, old.Thread)...)
		if st := at(t, mem, dm); st.Due != 1 || st.Cursor.Seq != 1 || st.Cursor.Leg != st.Binding.Leg || len(st.Binding.Back)+len(st.Binding.Before) > 0 {
			t.Errorf("the address: %+v", st)
		}
		if len(old.Left) != 1 {
			t.Errorf("left %v", old.Left)
		}
		u, err := session.UsageOf(t.Context(), mem, "slack:U1", time.Now())
		if err != nil || u.Today.Answers != 0 { // the stand-in for a model counts no tokens
			t.Errorf("usage %+v, %v", u, err)
		}
		if _, ok, _ := mem.Message(t.Context(), dm, got[0].Message); ok {
			t.Error("a message is still noted")
		}
		if r := b.accept(got[0]); !r.Duplicate {
			t.Errorf("delivered again: %+v", r)
		}
		b.accept(edit(got[0], "secret, again")) // an edit brings nothing back
		b.ended(b.tell("four")[0], session.EndAnswered)
		erased(t, mem, dm, "secret", append(old.Left, old.Thread)...)
		equal(t, "log", b.log(dm), []string{"end Forgotten.", "user four", "assistant re: four"})
		if p := b.p.prompts(); len(p[len(p)-1]) != 1 {
			t.Errorf("the model was shown %d turns", len(p[len(p)-1]))
		}
		b.stopLife()
	})
}

// Nobody but an admin deletes what several people wrote.
func TestForgetInAChannel(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const thread = session.Address("slack:T1/C1/1.0")
		b := start(t, mem, echo(0), commanded(mem), func(c *session.Config) { c.Admins = []string{"slack:U9"} })
		say := func(who, what string) session.Inbound {
			in := msg(thread, who, what, func(in *session.Inbound) { in.Call, in.Place = session.CallMention, "slack:C1" })
			b.accept(in)
			time.Sleep(time.Second)
			synctest.Wait()
			return in
		}
		say("slack:U1", "secret")
		heard := msg(thread, "slack:U2", "secret, said beside", func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" })
		b.accept(heard)
		say("slack:U1", "!forget")
		if l := last(b.log(thread)); !strings.Contains(l, "Only an admin") {
			t.Errorf("the starter is told %q", l)
		}
		old := at(t, mem, thread).Binding.Thread
		say("slack:U9", "!forget")
		say("slack:U1", "!forget yes")
		say("slack:U9", "!forget yes")
		erased(t, mem, thread, "secret", old)
		if e := b.entry(heard); e.State != session.EntryUsed {
			t.Errorf("what was heard: %+v", e)
		}
		b.stopLife()
	})
}

// Whatever commit the process dies at, what was forgotten is gone in the end, what came behind it is answered, and it is said once.
func TestDeathAtEveryCommitOfForget(t *testing.T) { atEveryDeath(t, 24, dieForgetting) }

func dieForgetting(t *testing.T, mem *storetest.Memory, applied bool, left int) {
	p := echo(500 * time.Millisecond)
	var in []session.Inbound
	for _, s := range []string{"secret one", "/new", "secret two", "/forget", "/forget yes", "three"} {
		in = append(in, msg(dm, "slack:U1", s))
	}
	for _, n := range []int{left, 1 << 30} {
		c := &crashing{Memory: mem, left: n, applied: applied}
		c.run(t, p, in, commanded(mem))
	}
	b := &bench{t: t, store: mem}
	for i, m := range in {
		want := session.EndAnswered
		if strings.HasPrefix(m.Text, "/") {
			want = session.EndNoticed
		}
		if e := b.entry(m); e.State != session.EntryEnded || e.End != want {
			t.Errorf("message %d: state %d, end %s", i, e.State, e.End)
		}
	}
	erased(t, mem, dm, "secret", session.ThreadOf(in[0].ID()), session.ThreadOf(in[1].ID()))
	equal(t, "log", b.log(dm), []string{"end Forgotten.", "user three", "assistant re: three"})
}

// A grave that can't be read keeps no other conversation from being deleted.
func TestAnUnreadableGraveKeepsNoOther(t *testing.T) {
	for _, value := range []string{"{", "{}"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			odd := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: "forgotten", Key: "0", Value: []byte(value)}}}
			if _, err := session.CommitWait(t.Context(), mem, odd); err != nil {
				t.Fatal(err)
			}
			b := start(t, mem, echo(0), commanded(mem))
			b.tell("secret one")
			old := at(t, mem, dm).Binding.Thread
			b.tell("/forget", "/forget yes")
			time.Sleep(time.Minute)
			synctest.Wait()
			if _, _, ok, err := mem.Thread(t.Context(), old); ok || err != nil {
				t.Errorf("with the grave %s, the conversation is still there (%v)", value, err)
			}
			b.stopLife()
		})
	}
}
