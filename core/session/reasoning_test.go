package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// thinking repeats in its reasoning what it was asked, as models do.
func thinking() *scripted {
	return &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		q := said(turns[len(turns)-1])
		return []artifact.Artifact{artifact.Reasoning{Content: "they ask: " + q}, artifact.Text{Content: "sure"}}, nil
	}}
}

// shows returns, for each answer on the log of an address, whether it is shown with its reasoning.
func (b *bench) showsReasoning(a session.Address) (out []bool) {
	b.t.Helper()
	recs, err := b.store.Log(context.Background(), at(b.t, b.store, a).Binding.Thread, 1, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range recs {
		if r.Turn != nil && r.Turn.Final() {
			out = append(out, r.Turn.ShowReasoning)
		}
	}
	return out
}

// Whether reasoning is shown is decided with the turn, for good: by the conversation's setting, else by the configuration's.
func TestWhetherReasoningIsShown(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		show := func(c *session.Config) { c.ShowReasoning = true }
		b := start(t, mem, thinking(), commanded(mem))
		b.tell("one", "/think show", "two")
		b.stopLife()
		b = start(t, mem, thinking(), commanded(mem), show)
		b.tell("three", "/think hide", "four")
		if got := fmt.Sprint(b.showsReasoning(dm)); got != "[false true true false]" {
			t.Errorf("shown %s", got)
		}
		b.stopLife()
		b = start(t, mem, echo(0), commanded(mem), show) // without reasoning there is nothing to show
		b.tell("/think show", "five")
		if got := b.showsReasoning(dm); got[4] {
			t.Errorf("shown %v", got)
		}
		b.stopLife()
	})
}

// mentions counts the turns on the log of an address that have a word in them, wherever.
func (b *bench) mentions(a session.Address, word string) (n int) {
	b.t.Helper()
	recs, err := b.store.Log(context.Background(), at(b.t, b.store, a).Binding.Thread, 1, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range recs {
		if r.Turn != nil && strings.Contains(fmt.Sprintf("%+v", *r.Turn), word) {
			n++
		}
	}
	return n
}

// Nothing of a deleted question is left in what the model thought about it, in answers that were retried either.
func TestADeletionTakesTheReasoningAlong(t *testing.T) {
	for _, restart := range []bool{false, true} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, thinking(), commanded(mem))
			b.tell("plain one")
			in := b.tell("SECRET one", "/retry", "plain two")[0]
			if n := b.mentions(dm, "they ask: SECRET"); n != 2 {
				t.Errorf("%d reasonings of it", n)
			}
			if restart {
				b.stopLife()
				b = start(t, mem, thinking(), commanded(mem))
			}
			b.accept(deletion(in))
			synctest.Wait()
			if n := b.mentions(dm, "SECRET"); n != 0 {
				t.Errorf("%d records still say it", n)
			}
			if n := b.mentions(dm, "they ask: plain"); n != 2 {
				t.Errorf("of the others' reasoning %d are left", n)
			}
			b.tell("next")
			equal(t, "prompt", b.p.shown(len(b.p.prompts())-1),
				[]string{"user plain one", "assistant sure", "assistant sure", "user plain two", "assistant sure", "user next"})
			b.stopLife()
		})
	}
}
