package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// The command summarises at once what is older than the newest exchanges, though it fits: the summary and the reply are one Batch, and
// what can't be summarised is said.
func TestTheCompactCommand(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		command := func(want string) {
			t.Helper()
			in := msg(dm, "slack:U1", "/compact")
			b.accept(in)
			synctest.Wait()
			b.ended(in, session.EndNoticed)
			if notes := b.notes(dm); !strings.HasPrefix(notes[len(notes)-1], want) {
				t.Errorf("reply %q, want %q", notes[len(notes)-1], want)
			}
		}
		command("There is nothing older")
		b.ask(msg(dm, "slack:U1", question(0)), 0)
		command("There is nothing older")
		for i := 1; i < 5; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		p.summary = func([]ledger.Turn) ([]artifact.Artifact, error) { return nil, errors.New("boom") }
		command("The model gave me no summary.")
		p.summary = nil
		before := mem.Commits()
		command("Older messages stand in a summary now.")
		if n := mem.Commits() - before; n != 2 {
			t.Errorf("%d commits, want the message's and the summary's", n)
		}
		b.ask(msg(dm, "slack:U1", question(5)), 0)
		last := p.asks[len(p.asks)-1]
		if got := len(names(last)); got != 6 || len(last) > 7 {
			t.Errorf("the prompt has %d turns and knows of %d questions", len(last), got)
		}
		undo, retry := msg(dm, "slack:U1", "/undo"), msg(dm, "slack:U1", "/retry")
		for _, in := range []session.Inbound{undo, retry} {
			b.accept(in)
			synctest.Wait()
		}
		b.ended(retry, session.EndAnswered)
		if got := names(p.asks[len(p.asks)-1]); len(got) != 5 || len(p.asks[len(p.asks)-1]) > 7 {
			t.Errorf("asked again, the prompt knows of %v in %d turns", got, len(p.asks[len(p.asks)-1]))
		}
		b.stopLife()
	})
}

// A deleted message leaves the summaries too: what they were made of it is emptied, on the disk as well.
func TestADeletionReachesSummaries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		secret := msg(dm, "slack:U1", question(0))
		b.ask(secret, 0)
		for i := 1; i < 40; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if n := len(b.summaries(dm)); n < 2 {
			t.Fatalf("%d summaries", n)
		}
		gone := msg(dm, "slack:U1", "", func(in *session.Inbound) {
			in.Signal, in.Target, in.TargetKey = session.SignalDelete, secret.Message, secret.Key
		})
		b.accept(gone)
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := 40; i < 60; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			if slices.Contains(names(p.asks[len(p.asks)-1]), "q#0") {
				t.Errorf("prompt %d knows what was deleted", i)
			}
		}
		for _, s := range b.summaries(dm) {
			if strings.Contains(whole([]ledger.Turn{s}), "q#0 ") {
				t.Error("a summary on the log still says it")
			}
		}
		b.stopLife()
	})
}

// An edited message reaches the model behind a summary too: what was made of the old text is made anew.
func TestAnEditReachesSummaries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		old := msg(dm, "slack:U1", question(0))
		b.ask(old, 0)
		for i := 1; i < 30; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if len(b.summaries(dm)) == 0 {
			t.Fatal("no summary")
		}
		b.accept(msg(dm, "slack:U1", question(99), func(in *session.Inbound) {
			in.Signal, in.Target, in.TargetKey, in.Version = session.SignalEdit, old.Message, old.Key, "2"
		}))
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := 30; i < 33; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			got := names(p.asks[len(p.asks)-1])
			if slices.Contains(got, "q#0") || i > 30 && (len(got) != i+1 || !slices.Contains(got, "q#99")) {
				t.Errorf("prompt %d knows of %v", i, got)
			}
		}
		b.stopLife()
	})
}
