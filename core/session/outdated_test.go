package session_test

import (
	"context"
	"fmt"
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

// sleeper is a tool that takes its time.
type sleeper struct {
	tools
	d time.Duration
}

func (s *sleeper) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	if a.Kind() == artifact.KindToolCall {
		time.Sleep(s.d)
	}
	return s.tools.Handle(ctx, a, e)
}

// What is deleted while a tool runs leaves the prompts that follow and the log, also where the tool's result isn't durable yet when the
// deletion is applied.
func TestADeletionWhileAToolRuns(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		held, h := true, &sleeper{}
		p := callTwice(1)
		o := &odd{Memory: mem, before: func(b *session.Batch) {
			if !held && len(b.Log) > 0 && b.Log[0].Turn != nil && b.Log[0].Turn.Role == ledger.RoleTool {
				held = true
				mem.Hold()
			}
		}}
		b := start(t, mem, p, on(o), func(c *session.Config) { reacting(c, h) })
		secret := b.exchange("my password is hunter2")
		held, h.d = false, time.Minute
		in := msg(dm, "slack:U1", "throw the dice")
		b.accept(in)
		time.Sleep(30 * time.Second)
		b.accept(deletion(secret))
		time.Sleep(time.Minute)
		synctest.Wait()
		mem.Release()
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if got := p.shown(3)[0]; got != "user my password is hunter2" {
			t.Errorf("the prompt before the deletion begins with %q", got)
		}
		for n := 4; n < len(p.prompts()); n++ {
			if got := p.shown(n)[0]; got == "user my password is hunter2" {
				t.Errorf("prompt %d shows what was deleted before it: %q", n, p.shown(n))
			}
		}
		if got := holds(t, mem, dm, "hunter2"); got != nil {
			t.Errorf("the store still holds it: %q", got)
		}
		b.stopLife()
	})
}

// restless is a transform during which something is edited, each time.
type restless func()

// Transform implements loop.Transform.
func (r restless) Transform(_ context.Context, st ledger.State) (ledger.State, error) {
	r()
	return st, nil
}

// Somebody who edits all the time doesn't keep a question from its answer.
func TestEditsWithoutEndHoldUpNoAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p, made := echo(0), 0
		var old session.Inbound
		var b *bench
		b = start(t, mem, p, func(c *session.Config) {
			c.Transform = append(c.Transform, restless(func() {
				if old.Key != "" {
					made++
					b.accept(edit(old, fmt.Sprint("edited ", made)))
					time.Sleep(time.Second)
				}
			}))
		})
		old = b.exchange("old")
		in := msg(dm, "slack:U1", "new")
		b.accept(in)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if made != 9 || len(p.prompts()) != 2 {
			t.Errorf("%d prompts were made, and %d shown to the model; want 9, and 2 with that before", made, len(p.prompts()))
		}
		if got := p.shown(1)[0]; got != "user edited 8" {
			t.Errorf("the prompt begins with %q", got)
		}
		b.stopLife()
	})
}

// What is edited while a model server lets a prompt wait isn't shown to the next one: the provider asks before it sends a prompt again.
func TestAnEditWhileAServerFails(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		var checked []error
		p := &scripted{answer: func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if n == 2 {
				time.Sleep(time.Minute)
				checked = append(checked, provider.Check(ctx))
				return nil, checked[1]
			}
			checked = append(checked, provider.Check(ctx))
			return text("ok"), nil
		}}
		b := start(t, mem, p)
		old := b.exchange("my password is hunter2")
		in := msg(dm, "slack:U1", "two")
		b.accept(in)
		time.Sleep(30 * time.Second)
		b.accept(edit(old, "never mind"))
		time.Sleep(time.Minute)
		b.ended(in, session.EndAnswered)
		if len(checked) != 3 || checked[0] != nil || checked[1] == nil || checked[2] != nil {
			t.Errorf("checked: %v", checked)
		}
		equal(t, "the last prompt", p.shown(2), []string{"user never mind", "assistant ok", "user two"})
		b.stopLife()
	})
}
